//! The guarantees of each level hold for every client.

use std::fs;
use std::path::Path;

use transect::FieldMask;
use transect_cache::Level;
use transect_service::Client;

use crate::support::Served;

/// Returns the size of a file from the service; `None` if it is missing.
fn size(client: &mut Client, path: &Path) -> Option<u64> {
    let answer = client.attributes(&[path], FieldMask::SIZE, false).unwrap()[0];
    match answer {
        Ok(attributes) => attributes.size(),
        Err(refusal) if refusal.is_missing() => None,
        Err(refusal) => panic!("{refusal}"),
    }
}

#[test]
fn frozen_answers_stay_until_all_is_invalidated() {
    let served = Served::new(Level::Frozen);
    let (mut one, mut other) = (served.client(), served.client());
    let (file, new) = (served.temp.join("file"), served.temp.join("new"));
    fs::write(&file, "1").unwrap();
    assert_eq!((size(&mut one, &file), size(&mut one, &new)), (Some(1), None));
    fs::write(&file, "22").unwrap();
    fs::write(&new, "333").unwrap();
    assert_eq!((size(&mut other, &file), size(&mut other, &new)), (Some(1), None));
    other.thaw().unwrap();
    assert_eq!(size(&mut one, &file), Some(1), "the level of the service");
    other.clear().unwrap();
    assert_eq!((size(&mut one, &file), size(&mut one, &new)), (Some(2), Some(3)));
}

#[test]
fn checked_frozen_and_thawed() {
    let served = Served::new(Level::Checked);
    let (mut one, mut other) = (served.client(), served.client());
    let file = served.temp.join("file");
    fs::write(&file, "1").unwrap();
    one.freeze().unwrap();
    assert_eq!(size(&mut one, &file), Some(1));
    fs::write(&file, "22").unwrap();
    assert_eq!(size(&mut other, &file), Some(1), "frozen for everybody");
    let greeting = served.client();
    assert_eq!(greeting.server_info().level, "frozen");
    other.thaw().unwrap();
    assert_eq!(size(&mut one, &file), Some(2));
}

#[test]
fn checked_and_verified_changes_before_request_seen() {
    for level in [Level::Checked, Level::Verified] {
        let served = Served::new(level);
        let mut client = served.client();
        assert_eq!(client.server_info().level, level.as_str());
        let file = served.temp.join("file");
        for length in 1..20 {
            fs::write(&file, vec![b'x'; length]).unwrap();
            assert_eq!(size(&mut client, &file), Some(length as u64));
            fs::remove_file(&file).unwrap();
            assert_eq!(size(&mut client, &file), None);
        }
    }
}

#[test]
fn invalidate_queried_again() {
    let served = Served::new(Level::Frozen);
    let mut client = served.client();
    fs::create_dir(served.temp.join("sub")).unwrap();
    let (file, other) = (served.temp.join("sub/file"), served.temp.join("other"));
    for path in [&file, &other] {
        fs::write(path, "1").unwrap();
        assert_eq!(size(&mut client, path), Some(1));
        fs::write(path, "22").unwrap();
    }
    client.invalidate(served.temp.join("sub")).unwrap();
    assert_eq!(size(&mut client, &file), Some(2));
    fs::write(&other, "333").unwrap();
    client.clear().unwrap();
    assert_eq!(size(&mut client, &other), Some(3));
}
