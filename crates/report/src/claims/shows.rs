//! Claims about the parts of a drawing.

use super::paired::Decision;
use super::{Finding, Shows};
use crate::figure::Figure;

pub(super) fn judge(figures: &[Figure], id: &str, test: &Shows) -> Finding {
    let figure = figures.iter().find(|figure| figure.definition.id == id);
    let figure = figure.ok_or_else(|| format!("figure {id} is not among those of this run"))?;
    let drawing = figure.drawing.as_ref().ok_or_else(|| format!("figure {id} is no drawing"))?;
    let parts = drawing.parts();
    let missing: Vec<&str> =
        test.parts.iter().filter(|wanted| !parts.contains(wanted)).map(String::as_str).collect();
    Ok(if missing.is_empty() {
        (Decision::Holds, format!("all {} are there", test.parts.len()))
    } else {
        (Decision::Fails, format!("without {}", missing.join(", ")))
    })
}

#[cfg(test)]
mod tests {
    use super::super::*;
    use crate::figure::Definitions;
    use crate::figure::drawing::Drawing;

    fn verdict(parts: &str) -> ClaimVerdict {
        let definition = "[[figure]]\nid = \"D\"\ntitle = \"t\"\ntype = \"drawing\"\n\
                          drawing = { file = \"d\", places = { A = [0, 0], B = [1, 0] } }\n";
        let definition = Definitions::parse(definition, "d").unwrap().figures.remove(0);
        let drawing = r#"{"drawing":"graph","nodes":[{"name":"A","kind":"state"},{"name":"B","kind":"host"}],
            "ways":[{"from":"A","to":"B"}]}"#;
        let figure = Figure::from_drawing(&definition, Drawing::parse(drawing, "d").unwrap()).unwrap();
        let claims = format!(
            "[[claim]]\nid = \"c\"\nitem = \"i\"\nstatement = \"s\"\nsource = \"p\"\nfigure = \"D\"\n\
             test = {{ kind = \"shows\", parts = {parts} }}\n"
        );
        evaluate_claims(&Claims::parse(&claims, "c").unwrap(), &[figure]).remove(0).verdict
    }

    #[test]
    fn a_drawing_shows_its_nodes_and_ways_and_nothing_else() {
        assert_eq!(verdict("[\"A\", \"B\", \"A to B\"]"), ClaimVerdict::Reproduced);
        assert_eq!(verdict("[\"A\", \"B to A\"]"), ClaimVerdict::Differs);
    }
}
