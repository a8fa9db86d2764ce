use super::*;

fn sample() -> Scene {
    let mut scene = Scene::new(200.0, 100.0, "A <title> & more");
    scene.line((0.0, 0.0), (100.0, 50.0), Stroke { color: Color::INK, width: 2.0, dashes: &[4.0, 2.0] });
    scene.text((10.0, 20.0), "x < y & \u{1}", 12.0, Anchor::Middle).turned = -90.0;
    let inside =
        vec![Item::Circle { center: (50.0, 50.0), radius: 80.0, fill: Some(Color::INK), stroke: None }];
    scene
        .items
        .push(Item::Clipped { to: Rect { x: 40.0, y: 40.0, width: 20.0, height: 20.0 }, items: inside });
    scene
}

#[test]
fn equal_scenes_give_equal_bytes() {
    assert_eq!(sample().to_svg(), sample().to_svg());
    assert_eq!(sample().to_png(2.0).unwrap(), sample().to_png(2.0).unwrap());
}

#[test]
fn text_is_escaped_and_control_characters_are_replaced() {
    let svg = sample().to_svg();
    assert!(svg.contains("<title>A &lt;title&gt; &amp; more</title>"));
    assert!(svg.contains(">x &lt; y &amp; \u{fffd}</text>"), "{svg}");
}

#[test]
fn what_is_clipped_stays_inside() {
    let mut scene = sample();
    scene.items.drain(..2);
    let png = scene.to_png(1.0).unwrap();
    let picture = tiny_skia::Pixmap::decode_png(&png).unwrap();
    let red = |x, y| picture.pixel(x, y).unwrap().red();
    assert_eq!((red(50, 50), red(35, 50), red(50, 65)), (Color::INK.rgb[0], 255, 255));
}

#[test]
fn widths_are_those_of_the_font() {
    assert!((text_width("0000", 10.0, false) - 4.0 * 5.56).abs() < 0.01, "a digit of Arial is 0.556 em wide");
    assert!(text_width("wide", 10.0, true) > text_width("wide", 10.0, false));
}

#[test]
fn long_text_is_shortened_or_wrapped() {
    let short = ellipsized("a rather long name of a series", 12.0, false, 80.0);
    assert!(short.ends_with('…') && text_width(&short, 12.0, false) <= 80.0);
    let lines = wrapped("a rather long title of a figure that needs three lines", 12.0, false, 100.0, 2);
    assert_eq!(lines.len(), 2);
    assert!(lines.iter().all(|line| text_width(line, 12.0, false) <= 100.0));
}

#[test]
fn impossible_sizes_are_refused() {
    for scale in [0.0, -1.0, f64::NAN, f64::INFINITY, 1e6] {
        assert!(sample().to_png(scale).is_err(), "{scale}");
    }
}

#[test]
fn a_pdf_has_its_objects_where_its_table_says() {
    let mut scene = Scene::new(100.0, 50.0, "Ärger \u{1F6F0}");
    scene.text((10.0, 20.0), "Bä", 12.0, Anchor::Middle).turned = -90.0;
    scene.line(
        (0.0, 0.0),
        (1e-9, 50.0),
        Stroke { color: Color::INK.faint(14), width: 1.0, dashes: &[5.0, 3.0] },
    );
    let pdf = String::from_utf8(scene.to_pdf()).unwrap();
    assert!(pdf.starts_with("%PDF-1.4\n") && pdf.ends_with("%%EOF\n"));
    let start: usize = pdf.rsplit("startxref\n").next().unwrap().lines().next().unwrap().parse().unwrap();
    let table: Vec<&str> = pdf[start..].lines().skip(3).take_while(|line| line.ends_with("n ")).collect();
    for (row, number) in table.iter().zip(1..) {
        assert!(row.len() == 19, "20 octets with the end of the line: {row:?}");
        let place: usize = row[..10].parse().unwrap();
        assert!(pdf[place..].starts_with(&format!("{number} 0 obj\n")), "object {number}");
    }
    let (head, rest) = pdf.split_once("stream\n").unwrap();
    let length: usize = head.rsplit("/Length ").next().unwrap().split('>').next().unwrap().parse().unwrap();
    assert!(rest[length..].starts_with("endstream"));
    assert!(!rest[..length].contains('e'), "no exponents: {}", &rest[..length]);
    assert!(pdf.contains("/G14 <</ca 0.14 /CA 0.14>>") && pdf.contains("/MediaBox [0 0 75 37.5]"));
    assert_eq!(scene.to_pdf(), pdf.into_bytes());
}
