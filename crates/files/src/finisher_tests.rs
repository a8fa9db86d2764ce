//! Names, one a step.

use super::*;
use crate::destination::Destination;
use crate::names::{FileName, RawName};
use crate::part::Traits;

fn complete(destination: &Destination, file: u32) -> Complete {
    let name = FileName::try_from(RawName::new(format!("f{file}"))).unwrap();
    let part = PartFile::create(destination, name, Traits::default()).unwrap();
    Complete { file, digest: Digest([0; 32]), part }
}

fn named(folder: &tempfile::TempDir) -> usize {
    (0..10).take_while(|file| folder.path().join(format!("f{file}")).exists()).count()
}

/// A finisher with ten files of which three have their names.
async fn amid_names(folder: &tempfile::TempDir) -> Finisher {
    let destination = Destination::open(folder.path()).unwrap();
    let mut finisher = Finisher::new(false);
    (0..10).for_each(|file| finisher.push(complete(&destination, file)));
    while named(folder) < 3 {
        assert_eq!(finisher.step().await, []);
    }
    finisher
}

#[tokio::test]
async fn a_step_gives_one_file_its_name() {
    let folder = tempfile::tempdir().unwrap();
    let mut finisher = amid_names(&folder).await;
    let mut finished = Vec::new();
    for file in 4..=10 {
        assert_eq!(finisher.step().await, []);
        assert_eq!((named(&folder), finisher.len()), (file, 10));
    }
    while finished.is_empty() {
        finished = finisher.step().await;
    }
    let whole: Vec<Finished> = (0..10).map(|file| (file, Ok(Digest([0; 32])))).collect();
    assert_eq!((finished, finisher.len()), (whole, 0));
}

#[tokio::test]
async fn a_session_that_fails_amid_the_names_finishes_those_that_have_theirs() {
    let folder = tempfile::tempdir().unwrap();
    let mut finisher = amid_names(&folder).await;
    let finished = finisher.wind_up().await;
    assert_eq!(finished, [0, 1, 2].map(|file| (file, Ok(Digest([0; 32])))));
    assert_eq!((named(&folder), finisher.len()), (3, 0));
}
