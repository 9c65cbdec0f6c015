//! Attributes for `serde`: the known fields by their names.

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::attributes::{Attributes, FileType};

macro_rules! stored {
    ($($(#[$doc:meta])* $flag:ident $name:ident $set:ident: $type:ty;)*) => {
        /// The fields under their names in JSON; an unknown one is left out.
        #[derive(Serialize, Deserialize)]
        struct Stored {
            #[serde(rename = "type")]
            file_type: FileType,
            $(
                #[serde(default, skip_serializing_if = "Option::is_none")]
                $name: Option<$type>,
            )*
        }

        impl From<&Attributes> for Stored {
            fn from(attributes: &Attributes) -> Self {
                Self { file_type: attributes.file_type(), $($name: attributes.$name(),)* }
            }
        }

        impl From<Stored> for Attributes {
            fn from(stored: Stored) -> Self {
                let mut attributes = Self::of_type(stored.file_type);
                $(attributes.set_known(Attributes::$set, stored.$name);)*
                attributes
            }
        }
    };
}

crate::with_fields!(stored);

impl Serialize for Attributes {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        Stored::from(self).serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Attributes {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Stored::deserialize(deserializer).map(Self::from)
    }
}

#[cfg(test)]
mod tests {
    use crate::{FaultKind, ReaderKind, StatOrder};

    use super::*;

    #[test]
    fn attributes_unknown_fields_left_out() {
        let mut attributes = Attributes::of_type(FileType::Fifo);
        attributes.set_size(0);
        attributes.set_mtime(-5);
        let text = serde_json::to_string(&attributes).unwrap();
        assert_eq!(text, r#"{"type":"fifo","size":0,"mtime":-5}"#);
        let again: Attributes = serde_json::from_str(&text).unwrap();
        assert_eq!(again.known(), attributes.known());
        assert_eq!((again.size(), again.mtime(), again.uid()), (Some(0), Some(-5), None));
    }

    #[test]
    fn words_equal_those_of_as_str() {
        let text = |value: &dyn Fn() -> serde_json::Value| value().as_str().unwrap().to_owned();
        for kind in ReaderKind::ALL {
            assert_eq!(text(&|| serde_json::to_value(kind).unwrap()), kind.as_str());
        }
        for order in StatOrder::ALL {
            assert_eq!(text(&|| serde_json::to_value(order).unwrap()), order.as_str());
        }
        for kind in FaultKind::ALL {
            assert_eq!(text(&|| serde_json::to_value(kind).unwrap()), kind.as_str());
        }
        for file_type in [FileType::Unknown, FileType::Char, FileType::Directory] {
            assert_eq!(text(&|| serde_json::to_value(file_type).unwrap()), file_type.as_str());
        }
    }
}
