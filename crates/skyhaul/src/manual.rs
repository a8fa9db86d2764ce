//! Manual, by subject. Begin with [`concepts`].

#[doc = include_str!("manual/concepts.md")]
pub mod concepts {}

#[doc = include_str!("manual/errors.md")]
pub mod errors {}

#[doc = include_str!("manual/controllers.md")]
pub mod controllers {}

#[doc = include_str!("manual/sans_io.md")]
pub mod sans_io {}

#[cfg(feature = "sim")]
#[doc = include_str!("manual/simulate.md")]
pub mod simulate {}

#[doc = include_str!("manual/bounds.md")]
pub mod bounds {}

#[doc = include_str!("manual/parameters.md")]
pub mod parameters {}

#[cfg(test)]
mod tests {
    use std::fmt::Write as _;

    use crate::Config;

    /// Lines `group.name value` of the debug form; `Some` is left out.
    fn parameters(config: &Config) -> Vec<(String, String)> {
        let text = format!("{config:?}").replace("Some(", "").replace(')', "");
        let (mut group, mut found) = (String::new(), Vec::new());
        for part in text.trim_start_matches("Config { ").split(", ") {
            let mut words = part.split(": ");
            let (mut name, mut value) = (words.next().unwrap(), words.next().unwrap());
            if let (Some(inner), Some((_, first))) = (words.next(), value.split_once(" { ")) {
                (group, name, value) = (name.to_string(), first, inner);
            }
            let value = value.trim_end_matches([' ', '}']);
            found.push((format!("{group}.{name}"), value.to_string()));
        }
        found
    }

    /// `UPDATE_DOCS=1` writes the page anew.
    #[test]
    fn the_table_of_parameters_has_the_values_of_the_code() {
        let mut page = include_str!("manual/parameters.md").split("\n|").next().unwrap().to_string();
        page.push_str("\n| parameter | `Config::standard()` | `Config::paper()` |\n|---|---|---|\n");
        let both = parameters(&Config::standard()).into_iter().zip(parameters(&Config::paper()));
        for ((name, standard), (also, paper)) in both {
            assert_eq!(name, also, "the groups are in one order");
            writeln!(page, "| `{name}` | {standard} | {paper} |").unwrap(); // a string takes all
        }
        let file = concat!(env!("CARGO_MANIFEST_DIR"), "/src/manual/parameters.md");
        if std::env::var_os("UPDATE_DOCS").is_some() {
            std::fs::write(file, &page).unwrap();
        }
        assert_eq!(include_str!("manual/parameters.md"), page, "UPDATE_DOCS=1 writes it anew");
    }
}
