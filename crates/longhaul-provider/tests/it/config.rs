//! Configuration from a given environment, and keys that are never shown.

use longhaul_provider::anthropic::{self, ApiVersion};
use longhaul_provider::{Auth, Client, ClientConfig, ClientConfigError, Dialect, Proxy, Secret};

fn from_env(dialect: Dialect, variables: &[(&str, &str)]) -> ClientConfig {
    let env = |name: &str| {
        let found = variables.iter().find(|(key, _)| *key == name);
        found.map(|(_, value)| (*value).to_owned())
    };
    ClientConfig::from_env(dialect, env).unwrap()
}

#[test]
fn n5_the_environment_names_server_and_key() {
    let config = from_env(
        Dialect::Anthropic,
        &[
            ("ANTHROPIC_BASE_URL", "http://localhost:1/x"),
            ("ANTHROPIC_API_KEY", " sk-ant-abc\n"),
            ("OPENAI_API_KEY", "no"),
        ],
    );
    assert_eq!(config.base_url.expose(), "http://localhost:1/x");
    assert_eq!(config.auth, Auth::ApiKey(Secret::new("sk-ant-abc")));
    let config = from_env(
        Dialect::Anthropic,
        &[("ANTHROPIC_API_KEY", "a"), ("ANTHROPIC_AUTH_TOKEN", "t")],
    );
    assert_eq!(config.auth, Auth::Bearer(Secret::new("t")));
    let config = from_env(
        Dialect::OpenAi,
        &[
            ("OPENAI_BASE_URL", "http://l/v1"),
            ("OPENAI_API_KEY", "sk-1"),
        ],
    );
    assert_eq!(config.base_url.expose(), "http://l/v1");
    assert_eq!(config.auth, Auth::Bearer(Secret::new("sk-1")));
}

#[test]
fn an_empty_variable_is_unset() {
    let config = from_env(
        Dialect::Anthropic,
        &[
            ("ANTHROPIC_BASE_URL", " "),
            ("ANTHROPIC_API_KEY", ""),
            ("HTTPS_PROXY", ""),
        ],
    );
    assert_eq!(config.base_url.expose(), "https://api.anthropic.com");
    assert_eq!(config.auth, Auth::None);
    assert!(config.proxy.is_none());
}

#[test]
fn proxies_go_by_the_scheme() {
    let variables = [
        ("HTTPS_PROXY", "http://p:1"),
        ("http_proxy", "http://q:1"),
        ("no_proxy", "localhost"),
    ];
    let proxy = from_env(Dialect::Anthropic, &variables).proxy.unwrap();
    assert_eq!(
        (proxy.url.expose(), proxy.except.as_deref()),
        ("http://p:1", Some("localhost"))
    );
    let plain = [&variables[..], &[("OPENAI_BASE_URL", "http://h")]].concat();
    assert_eq!(
        from_env(Dialect::OpenAi, &plain)
            .proxy
            .unwrap()
            .url
            .expose(),
        "http://q:1"
    );
}

#[test]
fn custom_headers_are_read_line_by_line() {
    let config = from_env(
        Dialect::Anthropic,
        &[("ANTHROPIC_CUSTOM_HEADERS", "X-A: 1\n\nX-B:two: 2")],
    );
    let headers: Vec<(&str, &str)> = config
        .headers
        .iter()
        .map(|(name, value)| (name.as_str(), value.expose()))
        .collect();
    assert_eq!(headers, [("X-A", "1"), ("X-B", "two: 2")]);
    let bad = ClientConfig::from_env(Dialect::Anthropic, |name| {
        (name == "ANTHROPIC_CUSTOM_HEADERS").then(|| "secret".to_owned())
    });
    assert!(!bad.unwrap_err().to_string().contains("secret"));
}

#[test]
fn no_way_of_printing_shows_a_key() {
    let secret = "sk-ant-very-secret-000000";
    let mut config = ClientConfig::new(Dialect::Anthropic);
    config.auth = Auth::ApiKey(Secret::new(secret));
    config.base_url = Secret::new(format!("http://user:{secret}@localhost/"));
    config.headers = vec![("x-other".to_owned(), Secret::new(secret))];
    config.proxy = Some(Proxy {
        url: Secret::new(format!("http://u:{secret}@p:1")),
        except: None,
    });
    let shown = [
        format!("{config:?} {config:#?}"),
        format!("{} {:?}", Secret::new(secret), Secret::new(secret)),
        format!(
            "{:?}",
            anthropic::headers(&config.auth, &ApiVersion::default(), []).unwrap()
        ),
        format!("{:?}", Client::new(config.clone()).unwrap()),
    ];
    for shown in shown {
        assert!(!shown.contains("very-secret"), "{shown}");
    }
}

#[test]
fn a_configuration_that_cannot_work_is_refused_without_its_secrets() {
    let with = |change: &dyn Fn(&mut ClientConfig)| {
        let mut config = ClientConfig::new(Dialect::Anthropic);
        config.base_url = Secret::new("http://localhost");
        change(&mut config);
        Client::new(config).unwrap_err()
    };
    assert!(matches!(
        with(&|config| config.base_url = Secret::new("nonsense")),
        ClientConfigError::BaseUrl(_)
    ));
    assert!(matches!(
        with(&|config| config.base_url = Secret::new("file:///x")),
        ClientConfigError::BaseUrl(_)
    ));
    let key = with(&|config| config.auth = Auth::ApiKey(Secret::new("ab\ncd-secret")));
    assert_eq!(key, ClientConfigError::Key);
    let header = with(&|config| config.headers = vec![("bad name".to_owned(), Secret::new("x"))]);
    assert_eq!(header, ClientConfigError::Header("bad name".to_owned()));
    let proxy = with(&|config| {
        config.proxy = Some(Proxy {
            url: Secret::new("http://u:pass-secret@[bad"),
            except: None,
        })
    });
    for error in [key, header, proxy] {
        assert!(
            !format!("{error} {error:?}").contains("secret"),
            "{error:?}"
        );
    }
}

#[test]
fn n5_both_version_headers_and_betas_in_order() {
    let headers = |version: &ApiVersion| {
        anthropic::headers(&Auth::None, version, ["b-2", "a-1", "b-2", ""]).unwrap()
    };
    let old = headers(&ApiVersion::V2023_06_01);
    assert_eq!(old["anthropic-version"], "2023-06-01");
    assert_eq!(old["anthropic-beta"], "b-2,a-1");
    assert_eq!(
        headers(&ApiVersion::V2026_10_21)["anthropic-version"],
        "2026-10-21"
    );
    let key =
        anthropic::headers(&Auth::ApiKey(Secret::new("k")), &ApiVersion::default(), []).unwrap();
    assert_eq!(key["x-api-key"], "k");
    assert!(key["x-api-key"].is_sensitive() && !key.contains_key("authorization"));
    let token =
        anthropic::headers(&Auth::Bearer(Secret::new("t")), &ApiVersion::default(), []).unwrap();
    assert_eq!(token["authorization"], "Bearer t");
}
