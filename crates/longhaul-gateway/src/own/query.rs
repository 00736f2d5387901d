//! The queries of the API: names and values after `?`, decoded, each name at most once.

use jiff::Timestamp;

/// What was asked for after `?`.
#[derive(Debug, Default)]
pub(super) struct AskedQuery(Vec<(String, String)>);

/// The form of an answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) enum AnswerFormat {
    /// One JSON object.
    #[default]
    Json,
    /// A table, as a file to be saved.
    Csv,
}

impl AskedQuery {
    /// Reads a query in which only these names may occur.
    pub(super) fn read(query: Option<&str>, known: &[&str]) -> Result<Self, String> {
        let query = query.unwrap_or_default();
        let pairs = url::form_urlencoded::parse(query.as_bytes()).into_owned();
        let read: Vec<(String, String)> = pairs.collect();
        match read
            .iter()
            .find(|(name, _)| !known.contains(&name.as_str()))
        {
            Some((name, _)) => {
                let named: Vec<String> = known.iter().map(|name| format!("`{name}`")).collect();
                let all = named.join(", ");
                Err(format!("there is no {name:?}; ask with {all}"))
            }
            None => Ok(Self(read)),
        }
    }

    /// A value; `None` if it is missing or empty.
    pub(super) fn text(&self, name: &str) -> Option<&str> {
        let (_, value) = self.0.iter().find(|(known, _)| known == name)?;
        (!value.is_empty()).then_some(value)
    }

    /// A value that is read from a text.
    pub(super) fn of<T: std::str::FromStr>(
        &self,
        name: &str,
        what: &str,
    ) -> Result<Option<T>, String> {
        let value = self.text(name).map(str::parse).transpose();
        value.map_err(|_| format!("`{name}` is {what}"))
    }

    /// A time, in milliseconds since 1970.
    pub(super) fn time(&self, name: &str) -> Result<Option<Timestamp>, String> {
        let what = "a number of milliseconds since 1970";
        let millis = self.of::<i64>(name, what)?;
        let time = millis.map(Timestamp::from_millisecond).transpose();
        time.map_err(|_| format!("`{name}` is {what}"))
    }

    /// The form of the answer.
    pub(super) fn format(&self) -> Result<AnswerFormat, String> {
        match self.text("format") {
            None | Some("json") => Ok(AnswerFormat::Json),
            Some("csv") => Ok(AnswerFormat::Csv),
            Some(_) => Err("`format` is `json` or `csv`".to_owned()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_decoded_and_unknown_names_are_refused() {
        let known = ["since", "model", "format"];
        let asked = AskedQuery::read(Some("model=a%2Fb+c&since=5&format=csv"), &known).unwrap();
        assert_eq!(asked.text("model"), Some("a/b c"));
        assert_eq!(asked.time("since").unwrap().unwrap().as_millisecond(), 5);
        assert_eq!(asked.format(), Ok(AnswerFormat::Csv));
        assert!(
            AskedQuery::read(Some("x=1"), &known)
                .unwrap_err()
                .contains("`model`")
        );
        let wrong = AskedQuery::read(Some("since=soon&format=pdf"), &known).unwrap();
        assert!(wrong.time("since").is_err() && wrong.format().is_err());
        let far = AskedQuery::read(Some("since=9223372036854775807"), &known).unwrap();
        assert!(far.time("since").is_err());
    }
}
