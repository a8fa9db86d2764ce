//! Which metrics a scenario asks for.

/// Names of metrics, in which `*` stands for any characters. None at all: every metric.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Wanted(Vec<String>);

impl Wanted {
    /// Metrics that one of these names fits, or all if there are none.
    pub fn new(patterns: Vec<String>) -> Self {
        Self(patterns)
    }

    /// The names, as they were written.
    pub fn patterns(&self) -> &[String] {
        &self.0
    }

    /// True if this metric is wanted.
    pub fn matches(&self, metric: &str) -> bool {
        self.0.is_empty() || self.0.iter().any(|pattern| fits(pattern, metric))
    }
}

/// Takes what stands between stars from left to right, each as early as possible.
fn fits(pattern: &str, name: &str) -> bool {
    let Some((head, rest)) = pattern.split_once('*') else { return pattern == name };
    let Some(mut name) = name.strip_prefix(head) else { return false };
    let (middle, tail) = rest.rsplit_once('*').unwrap_or(("", rest));
    for part in middle.split('*') {
        let Some(at) = name.find(part) else { return false };
        name = &name[at + part.len()..];
    }
    name.ends_with(tail)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_star_stands_for_anything() {
        for (pattern, name) in [
            ("goodput_bps", "goodput_bps"),
            ("links.*.utilisation", "links.space.forward.utilisation"),
            ("*", ""),
            ("**", "x"),
            ("a*a", "aa"),
            ("*.p9*.x", "delay.p95.p99.x"),
        ] {
            assert!(fits(pattern, name), "{pattern} {name}");
        }
        for (pattern, name) in
            [("share", "shares"), ("a*a", "a"), ("links.*", "flows.x"), ("*b*", "aca"), ("", "x")]
        {
            assert!(!fits(pattern, name), "{pattern} {name}");
        }
    }

    #[test]
    fn without_names_everything_is_wanted() {
        assert!(Wanted::default().matches("jain"));
        assert!(!Wanted::new(vec!["share".to_string()]).matches("jain"));
    }
}
