package main

import (
	"encoding/json"
	"log"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/component-helpers/scheduling/corev1/nodeaffinity"
)

// What is selected from; the product's tests have the same.
var labelSets = []labels.Set{
	{},
	{"app": "web", "tier": "front", "cores": "8"},
	{"app": "api", "x": "", "cores": "-3"},
	{"example.com/app": "web", "cores": "many", "tier": "in"},
}

func chosen(matches func(labels.Set) bool) []bool {
	all := make([]bool, 0, len(labelSets))
	for _, set := range labelSets {
		all = append(all, matches(set))
	}
	return all
}

// selectors has what kubectl's -l takes.
func selectors(t *table) {
	texts := []string{
		"", " ", ",", ",,", "app", "!app", "! app", "app=web", "app==web", "app===web", "app = web", "app!=web", "app !=web",
		"app=", "app==", "app!=", "=web", "!=web", "app=web,", ",app=web", "app=web,,tier", "app=web,tier=front", "app=web, tier=front",
		"app in (web)", "app in (web,api)", "app in ( web , api )", "app in ()", "app in (,)", "app in (web,)", "app in (,web)",
		"app in web", "app in(web)", "app in (web", "app in web)", "app notin (web)", "app notin (web, api)", "app not in (web)",
		"app IN (web)", "in in (in)", "in", "notin", "in=in", "!in", "tier in (in)", "app in (web),!tier", "!app in (web)", "app,tier",
		"app tier", "app web", "app=web tier=front", "cores>4", "cores > 4", "cores<4", "cores<-2", "cores>-4", "cores>x", "cores>", ">4",
		"cores>4.5", "cores>+4", "cores>=4", "cores=>4", "cores<>4", "cores>4,cores<10", "cores>99999999999999999999",
		"example.com/app=web", "example.com/app", "/app", "example.com/", "a/b/c", "Example.com/app", "-app", "app-", "a.p.p", "a_b", "app=we b",
		"app=-web", "app=web-", "app=a.b_c-d", "app=a/b", "app=\"web\"", "app='web'", "app=wéb", "äpp=web", "app=we!b", "app=(web)", "(app)",
		"x=", "x", "x in ()", "x in (,a)", "x!=", "x notin ()", "app=web)", "(app=web)", "app=web;tier=front", "app:web", "app~web",
		"app=web\n", "\tapp", "app=0123456789012345678901234567890123456789012345678901234567890123", "0123456789012345678901234567890123456789012345678901234567890123",
		"app in (web),tier in (front)", "app in (web)tier", "app in (web) tier", "app in (web),,tier", "!", "!!app", "!=", "==", "in (a)",
	}
	for range 800 {
		texts = append(texts, t.mangled(pick(t, texts[:90]), "ap=!<>(), n1-/x"))
	}
	for _, text := range texts {
		selector, err := labels.Parse(text)
		if err != nil {
			t.add([]any{text}, nil)
			continue
		}
		t.add([]any{text}, chosen(func(set labels.Set) bool { return selector.Matches(set) }))
	}
}

var (
	keys      = []string{"app", "tier", "x", "cores", "example.com/app", "", "a b", "-a", "a/b/c", "metadata.name"}
	operators = []string{"In", "NotIn", "Exists", "DoesNotExist", "Gt", "Lt", "in", "Equals", ""}
	lists     = [][]string{nil, {}, {"web"}, {"web", "api"}, {""}, {"a b"}, {"4"}, {"-4"}, {"4", "5"}, {"x"}, {"n1"}, {"4.5"}}
)

// labelSelectors has selectors as budgets and controllers carry them: the answer is null where a controller refuses.
func labelSelectors(t *table) {
	ask := func(selector *metav1.LabelSelector) {
		question, err := json.Marshal(selector)
		if err != nil {
			log.Fatal(err)
		}
		s, err := metav1.LabelSelectorAsSelector(selector)
		if err != nil {
			t.add([]any{json.RawMessage(question)}, nil)
			return
		}
		t.add([]any{json.RawMessage(question)}, chosen(func(set labels.Set) bool { return s.Matches(set) }))
	}
	ask(nil)
	ask(&metav1.LabelSelector{})
	for _, key := range keys {
		for _, value := range []string{"web", "", "a b", "-a"} {
			ask(&metav1.LabelSelector{MatchLabels: map[string]string{key: value}})
		}
		for _, operator := range operators {
			for _, values := range lists {
				one := metav1.LabelSelectorRequirement{Key: key, Operator: metav1.LabelSelectorOperator(operator), Values: values}
				ask(&metav1.LabelSelector{MatchExpressions: []metav1.LabelSelectorRequirement{one}})
			}
		}
	}
	for range 200 {
		all := metav1.LabelSelector{MatchLabels: map[string]string{pick(t, keys[:5]): pick(t, []string{"web", "api", ""})}}
		for range t.random.IntN(3) {
			all.MatchExpressions = append(all.MatchExpressions, metav1.LabelSelectorRequirement{
				Key: pick(t, keys[:6]), Operator: metav1.LabelSelectorOperator(pick(t, operators[:5])), Values: pick(t, lists),
			})
		}
		ask(&all)
	}
}

// nodeSelectors has terms of required node affinity: which of the nodes match. A term that upstream cannot use matches none.
func nodeSelectors(t *table) {
	ask := func(selector corev1.NodeSelector) {
		question, err := json.Marshal(selector)
		if err != nil {
			log.Fatal(err)
		}
		lazy := nodeaffinity.NewLazyErrorNodeSelector(&selector)
		all := make([]bool, 0, len(labelSets))
		for i, set := range labelSets {
			node := corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: []string{"n0", "n1", "n2", "web"}[i], Labels: set}}
			// As the scheduler asks: a term with an error is passed over where another one matches.
			matches, err := lazy.Match(&node)
			all = append(all, matches && err == nil)
		}
		t.add([]any{json.RawMessage(question)}, all)
	}
	ask(corev1.NodeSelector{})
	ask(corev1.NodeSelector{NodeSelectorTerms: []corev1.NodeSelectorTerm{{}}})
	one := func(key, operator string, values []string) []corev1.NodeSelectorRequirement {
		return []corev1.NodeSelectorRequirement{{Key: key, Operator: corev1.NodeSelectorOperator(operator), Values: values}}
	}
	for _, key := range keys {
		for _, operator := range operators {
			for _, values := range lists {
				ask(corev1.NodeSelector{NodeSelectorTerms: []corev1.NodeSelectorTerm{{MatchExpressions: one(key, operator, values)}}})
				ask(corev1.NodeSelector{NodeSelectorTerms: []corev1.NodeSelectorTerm{{MatchFields: one(key, operator, values)}}})
			}
		}
	}
	for range 200 {
		var selector corev1.NodeSelector
		for range 1 + t.random.IntN(3) {
			var term corev1.NodeSelectorTerm
			for range t.random.IntN(3) {
				term.MatchExpressions = append(term.MatchExpressions, one(pick(t, keys[:6]), pick(t, operators[:7]), pick(t, lists))...)
			}
			if t.random.IntN(3) == 0 {
				term.MatchFields = one(pick(t, keys[9:]), pick(t, operators[:2]), pick(t, lists))
			}
			selector.NodeSelectorTerms = append(selector.NodeSelectorTerms, term)
		}
		ask(selector)
	}
}
