//! One object as bytes, in one of the two encodings of the API.

use serde::de::DeserializeOwned;
use std::fmt;

/// An object that is not read yet.
#[derive(Debug, Clone, Copy)]
pub enum Item<'a> {
    /// As JSON.
    Json(&'a [u8]),
    /// As protobuf, without the `k8s` envelope.
    Proto(&'a [u8]),
}

impl Item<'_> {
    /// Reads a type of which both encodings are known.
    ///
    /// # Errors
    /// The bytes are not of this type.
    pub fn decode<T: prost::Message + Default + DeserializeOwned>(self) -> Result<T, ItemError> {
        match self {
            Self::Json(_) => self.decode_json(),
            Self::Proto(bytes) => T::decode(bytes).map_err(|e| e.to_string().into()),
        }
    }

    /// Reads a type of which JSON is the only form.
    ///
    /// # Errors
    /// The bytes are not of this type, or are protobuf.
    pub fn decode_json<T: DeserializeOwned>(self) -> Result<T, ItemError> {
        match self {
            Self::Json(bytes) => serde_json::from_slice(bytes).map_err(|_| with_path::<T>(bytes)),
            Self::Proto(_) => Err(ItemError::from("is read as JSON only".to_owned())),
        }
    }
}

/// Reads once more what could not be read, and notes in which field.
fn with_path<T: DeserializeOwned>(bytes: &[u8]) -> ItemError {
    let mut json = serde_json::Deserializer::from_slice(bytes);
    match serde_path_to_error::deserialize::<_, T>(&mut json) {
        Err(e) => {
            let path = e.path().to_string();
            let mut error = ItemError::from(e.into_inner());
            // The path of an object as a whole is a point.
            if path != "." {
                error.message = format!("{path}: {}", error.message);
            }
            error
        }
        Ok(_) => "has something behind its end".to_owned().into(),
    }
}

/// An item that cannot be used.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ItemError {
    /// What is wrong.
    pub message: String,
    /// Line and column within the item, from 1, where it was JSON that did not decode.
    pub at: Option<(usize, usize)>,
}

impl fmt::Display for ItemError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for ItemError {}

impl From<String> for ItemError {
    fn from(message: String) -> Self {
        Self { message, at: None }
    }
}

impl From<serde_json::Error> for ItemError {
    fn from(e: serde_json::Error) -> Self {
        let at = (e.line() > 0).then(|| (e.line(), e.column()));
        let text = e.to_string();
        // The position is told apart from the words, as it is that within the file which helps.
        let message = text.split(" at line ").next().unwrap_or(&text).to_owned();
        Self { message, at }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wire::node::Taint;

    #[test]
    fn what_cannot_be_read_is_an_error_with_its_place() {
        let read = |item: Item<'_>| item.decode::<Taint>().map(|t| t.key).map_err(|e| (e.message, e.at));
        assert_eq!(read(Item::Json(br#"{"key":"a","unknown":[1]}"#)), Ok("a".to_owned()));
        assert_eq!(read(Item::Json(br#"{"key":null}"#)), Ok(String::new()));
        assert_eq!(read(Item::Proto(b"\x0a\x01a")), Ok("a".to_owned()));
        let (message, at) = read(Item::Json(b"{\"key\":\n  7}")).unwrap_err();
        assert!(message.contains("expected a string") && at == Some((2, 3)), "{message} {at:?}");
        let (_, at) = read(Item::Proto(b"\x0a\x09a")).unwrap_err();
        assert_eq!(at, None);
        assert!(Item::Proto(b"").decode_json::<Taint>().is_err());
    }
}
