//! Objects of JSON, whose keys stand where their values are.

/// Makes an object with these keys, in this order, which implements `serde::Serialize`. After `key?`, the value is an
/// `Option`, and the key is left out without one; after `..name`, the keys of another object follow.
///
/// ```text
/// json_object! { schema: "transect.example/1", ..file: path, size?: size }
/// ```
#[macro_export]
macro_rules! json_object {
    (@ [$($key:ident)*] [$($field:tt)*] [$($value:tt)*]) => {{
        #[expect(non_camel_case_types, reason = "the type of a value has the name of its key")]
        mod object {
            #[derive(serde::Serialize)]
            pub(super) struct Object<$($key),*> { $($field)* }
        }
        object::Object { $($value)* }
    }};
    (@ [$($keys:tt)*] [$($fields:tt)*] [$($values:tt)*]
        $key:ident?: $value:expr $(, $($rest:tt)*)?) => {
        $crate::json_object!(@ [$($keys)* $key]
            [$($fields)* #[serde(skip_serializing_if = "Option::is_none")] pub(super) $key: Option<$key>,]
            [$($values)* $key: $value,] $($($rest)*)?)
    };
    (@ [$($keys:tt)*] [$($fields:tt)*] [$($values:tt)*]
        ..$key:ident: $value:expr $(, $($rest:tt)*)?) => {
        $crate::json_object!(@ [$($keys)* $key]
            [$($fields)* #[serde(flatten)] pub(super) $key: $key,]
            [$($values)* $key: $value,] $($($rest)*)?)
    };
    (@ [$($keys:tt)*] [$($fields:tt)*] [$($values:tt)*]
        $key:ident: $value:expr $(, $($rest:tt)*)?) => {
        $crate::json_object!(@ [$($keys)* $key] [$($fields)* pub(super) $key: $key,]
            [$($values)* $key: $value,] $($($rest)*)?)
    };
    ($($body:tt)*) => { $crate::json_object!(@ [] [] [] $($body)*) };
}
