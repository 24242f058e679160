//! use VERSION BASE CA ACTION: uses a server with reqwest, and prints what came of it.
use reqwest::blocking::{Client, Response};
use reqwest::Certificate;
use std::{env, error::Error, fs, time::Duration};

fn told(response: Response, action: &str) -> reqwest::Result<String> {
    let status = response.status().as_u16();
    let body = response.text()?;
    Ok(if action == "stream" {
        format!("{} pieces", body.lines().filter(|line| !line.is_empty()).count())
    } else if body.len() > 1000 {
        format!("{status} {}", body.len())
    } else if status == 200 {
        format!("{status} {}", body.trim())
    } else {
        status.to_string()
    })
}

fn act(version: &str, base: &str, ca: &str, action: &str) -> Result<String, Box<dyn Error>> {
    let builder = Client::builder()
        .add_root_certificate(Certificate::from_pem(&fs::read(ca)?)?)
        .timeout(Duration::from_secs(60));
    let client = if version == "HTTP_2" { builder } else { builder.http1_only() }.build()?;
    let path = match action {
        "again" => "hello",
        "restart" => "restart/hello",
        _ => action,
    };
    let url = format!("{base}/{path}");
    let mut before = "";
    let request = if action == "login" {
        client.get(url).basic_auth("ci", Some("open@sesame/1"))
    } else if action.starts_with("up") {
        let size = env::var("USE_SIZE")?.parse()?;
        client.post(url).body(vec![b'x'; size])
    } else {
        if action == "again" {
            client.get(format!("{base}/close")).send()?.text()?;
        } else if action == "restart" {
            let whole = client.get(format!("{base}/restart")).send().and_then(Response::bytes);
            before = if whole.is_ok() { "whole, " } else { "cut, " };
        }
        client.get(url)
    };
    Ok(format!("{before}{}", told(request.send()?, action)?))
}

fn main() {
    let words: Vec<String> = env::args().skip(1).collect();
    for _ in 0..env::var("USE_TRIES").unwrap().parse().unwrap() {
        match act(&words[0], &words[1], &words[2], &words[3]) {
            Ok(said) => println!("{said}"),
            Err(problem) => println!("error: {problem:?}"),
        }
    }
}
