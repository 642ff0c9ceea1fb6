//! What is found in whole texts, and what is left alone.

use std::borrow::Cow;
use std::time::{Duration, Instant};

use super::*;

/// Wants every `«…»` of the text replaced, and nothing else.
#[track_caller]
fn check(marked: &str) {
    let (text, expected) = unmark(marked);
    assert_eq!(Redaction::standard().apply(&text), expected, "{text:?}");
    // What was replaced is left alone from then on.
    assert_eq!(Redaction::standard().apply(&expected), expected, "again: {expected:?}");
}

/// The text, and what is to become of it.
pub(super) fn unmark(marked: &str) -> (String, String) {
    let text = marked.replace(['«', '»'], "");
    let mut parts = marked.split(['«', '»']);
    let mut expected = parts.next().unwrap_or_default().to_owned();
    while let Some(_secret) = parts.next() {
        expected.push_str("[REDACTED]");
        expected.push_str(parts.next().unwrap_or_default());
    }
    (text, expected)
}

/// Each secret is between `«` and `»`.
pub(super) const SECRETS: &[&str] = &[
    // The rules of ptywright.
    "Bearer «abcdefgh»",
    "bearer   «abc.def~ghi+jkl/mno==» end",
    "Authorization: Bearer «abc.def-ghi»",
    "use «sk-abcdefghijklmnop» now",
    "token=«abc»",
    "token: «abc»",
    "Token = «abc123»",
    "api_key=«abc», next",
    "api-key: «abc123»",
    "apikey=«abc»",
    "secret=«s3cr3t»",
    "password=«hunter2»",
    "passwd: «hunter2»",
    "[token=«abc»] {password=«hunter2»}",
    // What those rules leaked.
    "GITHUB_TOKEN=«abc»",
    "export my_token=«abc»",
    "password='«x»'",
    "password='«x y»' next",
    r#"password="«x \" y»" next"#,
    r"password='«it\'s»'",
    r#"{"token":"«abc»"}"#,
    r#"{"user":"bob", "api_key": "«abc def»", "n": 1}"#,
    "key AKIA: «AKIAIOSFODNN7EXAMPLE»",
    // What is no call, whatever it has in it.
    "password=«Zq9(abc»",
    "PASSWORD: «Zq9(abc» next",
    "export GITHUB_TOKEN=«Zq9(b9xyz»",
    "password=«hunter(2abc»",
    "password=«Zq9.a(b»",
    "password=«correct(horse)battery»",
    "password=«Zq(9x)Kd8!z»",
    "tool --password=«Zq9(abc»",
    "api_key=«Zq9abc123456789012345(x»",
    // Names.
    "PGPASSWORD=«abc» psql",
    "password: «my_password»",
    "\"password\": \"«Summer»\"",
    "password: «Summer»",
    "secret: «correct-horse»",
    "DB_PASS=«abc»",
    "accessToken: '«abc»'",
    "x-api-key: «abc123»",
    "client_secret=«abc&x»",
    "aws_secret_access_key = «wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY»",
    "AccountKey=«abc123==;»",
    "env[\"TOKEN\"] = \"«abc»\"",
    "config :token => '«abc»'",
    "token := \"«abc»\"",
    "token = b\"«abc»\"",
    r#"{\"token\":\"«abc»\",\"x\":1}"#,
    "password=«<3secret»",
    "password=«$ecret!1»",
    "password=«[abc»]",
    "token:\n\n    «0123456789abcdefghijKLMN»\n",
    "Authorization: Basic «dXNlcjpwYXNz»",
    "-H 'Authorization: Basic «dXNlcjpwYXNz»'",
    r#""Authorization": "token «abc»""#,
    "Authorization: «tokenabc»",
    // With a type.
    // A value in code is a name only if people name things so.
    "self.token = «abcdef0123456789abcdef0123456789»",
    "DEBUG self.api_key = «c0ffee00c0ffee00c0ffee00c0ffee00»",
    "args.password = «Tr0ub4dor3»",
    "args.secret_key = «wJalrXUtnFEMIK7MDENGbPxRfiCYEXAMPLEKEY»",
    "this.password = «hunter2»",
    "this.token = «abc123;»",
    "client_secret = «kjHGFdsaQWERtyuiopLKJHGFDSAzxcvb;»",
    "$db_token = «abcdefghijklmnopqrst;»",
    "password: str = \"«hunter22»\"",
    "api_key: Optional[str] = '«abc123»'",
    "    token: str | None = b'«abc»',",
    "headers_token: dict[str, str] = \"«abc»\"",
    "PASSWORD: Final = \"«hunter»\"",
    "let password: &str = \"«hunter»\";",
    "const TOKEN: &'static str = \"«abc»\";",
    "const SECRET: &[u8] = b\"«abc»\";",
    "static DB_PASSWORD:&str=\"«abc»\";",
    "const apiKey: string = '«abc123»';",
    "  private secret?: string = '«abc»';",
    "var token string = \"«abc»\"",
    "\ttoken    string = `«abc»`\n",
    "char password[16] = \"«abc»\";",
    "String password = \"«abc»\";",
    "password = \"\"\"«hunter22»\"\"\"",
    "password: str = '\'\'«hunter22»\'\'\'",
    // More names.
    "SECRET_KEY_BASE=«abc123»",
    "MYSQL_PWD=«abc» mysql",
    "DB_PWD='«a b»'",
    "export REDIS_AUTH=«abc»",
    "REDISCLI_AUTH: '«abc def»'",
    "\"auth\": \"«dXNlcjpwYXNzd29yZA==»\"",
    r#"{\"auth\":\"«dXNlcjpwYXNz»\"}"#,
    "_auth=«dXNlcjpwYXNz»",
    "//registry.example/:_auth = \"«dXNlcjpwYXNz»\"",
    "//registry.npmjs.org/:_authToken=«abc-123»",
    "user.password = «hunter2»",
    "password = «hunter2;»",
    "token = «abc123;»",
    "my password = «hunter»",
    "password=«pass_word»",
    // Tokens that say what they are.
    "«AGE-SECRET-KEY-1QQQQQQQQQQQQQQQQQQQQQQQQQQQQQQQQQQQQQQQQQQQQQQQQQQ»",
    "«ASIAIOSFODNN7EXAMPLE»",
    "«ghp_0123456789abcdefghijABCDEFGHIJ012345»",
    "(«gho_0123456789abcdefghijABCDEFGHIJ012345»)",
    "«ghs_0123456789abcdefghijABCDEFGHIJ012345», ",
    "«ghu_0123456789abcdefghijABCDEFGHIJ012345»",
    "«ghr_0123456789abcdefghijABCDEFGHIJ012345»",
    "«github_pat_11ABCDEFG0abcdefghijkl_0123456789»",
    "«sk-ant-api03-abcdefghijklmnopqrstuvwxyz»",
    "«xoxb-1234567890-abcdef»",
    "«AIzaSyA0123456789abcdefghijklmnopqrstuv»",
    "«glpat-abcdefghij0123456789»",
    "«eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.c2lnbmF0dXJl» end",
    "token=«ghp_0123456789abcdefghijABCDEFGHIJ012345»",
    "parse(«ghp_0123456789abcdefghijABCDEFGHIJ012345»)",
    // URLs.
    "https://user:«PASS»@host/path",
    "postgres://bob:«p@ss»@db:5432/x",
    "https://:«abc»@host",
    "redis://:«abc»@host:1/2 http://localhost:80/",
    "https://b.s3.example/k?X-Amz-Date=1&X-Amz-Signature=«fe5f80f77d5fa3beca038a248ff027d0445342fe2855ddc9»&x=1",
    "&X-Goog-Signature=«fe5f80f77d5fa3beca038a248ff027d0445342fe2855ddc9»",
    "https://a.blob.example/c?sp=r&sig=«abcDEF0123%2Fxyz%2Babcdefghijklmn%3D»&sv=2022",
    "curl https://hooks.slack.com/services/«T0123ABCD/B0123ABCD/abcDEF0123456789abcdefgh» -d x",
    "\"https://hooks.slack.com/workflows/«T0123ABCD/A0123ABCD/123456/abcDEF012345»\"",
    // Options.
    "tool --token «abc123» run",
    "mysql --password '«x y»' -u bob",
    "mysql --password \"«hunter»\"",
    "login --password «hunter2»",
    "login --password «hunter»",
    "$ login --password=«hunter» --user bob",
    "tool --token «abcdef»\r\n",
    "tool --token «Abcdef» --secret «correct-horse» && ls",
    "tool --passphrase «HunterTwo»",
    "x --password «SUMMER», then",
    "vpn up --auth-key «abc»",
    "x --api-key «a1b2c3»\r\n",
    "x --client-secret «s3cr3t» --token «AbCdEfGhIjKlMnOpQrStUv»",
    // Programs.
    "curl -u bob:«abc» https://host/",
    "$ curl -sS -X POST --user 'bob:«a b»' https://host/",
    "/usr/bin/curl -ubob:«abc:1» host",
    "mysql -u root -p«abc» shop",
    "mysqldump -h db -p'«a b»' shop",
    "sshpass -p «abc» ssh bob@host",
    "CREATE USER bob IDENTIFIED BY '«abc»';",
    "ALTER ROLE bob WITH PASSWORD '«abc»';",
    "machine host.example login bob password «abc»",
    "machine host\n\tlogin bob\n\tpassword «abc»\n",
    "Server=db;Uid=sa;Pwd=«abc»",
    "<password>«a b»</password>",
    "<server><db.password>«abc»</db.password></server>",
    // Cookies.
    "curl -H 'Cookie: session=«abc; theme=dark»' https://host/",
    "> Cookie: sid=«a1»\r\n> Accept: */*",
    "< set-cookie: id=«x; Path=/; HttpOnly»\r\n",
    r#"{"cookie": "sid=«abc»", "x": 1}"#,
    // Keys.
    "-----BEGIN RSA PRIVATE KEY-----\n«MIIEowIBAAKCAQEA\nabc+/=»\n-----END RSA PRIVATE KEY-----\n$ ls",
    "-----BEGIN PRIVATE KEY-----\r\n  «MIIE\r\n  abc=»\r\n  -----END PRIVATE KEY-----",
    "-----BEGIN EC PRIVATE KEY-----\nProc-Type: 4,ENCRYPTED\nDEK-Info: AES,00\n\n«MIIE»\n-----END",
    "vault: «hvs.CAESIJ4f8kQ2mN7xR1vT» ok",
    "DIGITALOCEAN «dop_v1_0123456789abcdef0123456789abcdef»",
    "«pypi-AgEIcHlwaS5vcmcCJDAxMjM0NTY3ODlhYmNkZWY»",
    "key «SG.aB3dE5fG7hI9jK1l.mN3oP5qR7sT9uV1wX3yZ5aB7» end",
    "-----BEGIN OPENSSH PRIVATE KEY-----\n«b3BlbnNzaC1rZXk\nabc»\n$ ls -l",
    "-----BEGIN RSA PRIVATE KEY----- «MIIEowIBAAKCAQEA abc+/ def=» -----END RSA PRIVATE KEY-----\n$ ls",
    "     1\t-----BEGIN EC PRIVATE KEY-----\n     «2\tMIIEowIBAAKC\n     3\tabc=\n     4»\t-----END EC PRIVATE KEY-----",
    "a.pem:7:-----BEGIN PRIVATE KEY-----\n«8:MIIEowIBAAKCAQEA\n9:abc=\n10»:-----END PRIVATE KEY-----",
    "\"-----BEGIN PRIVATE KEY-----\\n«MIIE\\nabc=\\n»-----END PRIVATE KEY-----\\n\"",
];

pub(super) const HARMLESS: &[&str] = &[
    "password: str = \"\"",
    "token: str = get_token()",
    "password: str = Field(min_length=8)",
    "def f(password: str, user: str = \"bob\"):",
    "token: &str, other: &str = \"x\"",
    "token: Foo == \"x\"",
    "apiKey: string = `${a}`",
    "token string \"x\"; token stringent = \"x\"",
    "token: the word that we say = \"x\"",
    "password = \"\"\"\"\"\"",
    "password = \"\"",
    "token = \"\"\"\nA text.\n\"\"\"",
    "i_pwd='define' i_pwd=x",
    "SECRET_KEY_BASE_DUMMY=1",
    "TEXT_PASSWORD = \"\"\"\\\n[section]\n\"\"\"",
    "key_password: bytes = b\"\"\"-----BEGIN PUBLIC KEY-----\nMIIE\n-----END PUBLIC KEY-----\"\"\"",
    "Authorization: OAuth realm=\"Example\",",
    "OLDPWD=/x OLD_PWD=~ START_PWD=/data/app",
    "\"auth\": \"required\", \"author\": \"dXNlcjpwYXNz\"",
    "\"auth\": {\"x\": 1}",
    "_auth=required; proxy_auth=dXNlcjpwYXNz; _auth = None",
    "kill -sig=9; config=abcdefghijklmnopqrstuvwxyz; x?sig=abc&y",
    "&sig=<signature> X-Amz-Signature=SIGNATURE",
    "x-signature=fe5f80f77d5fa3beca038a248ff027d0445342fe2855ddc9",
    "https://hooks.slack.com/docs/abcdefghijklmnopqrstuvwxyz0123456789",
    "https://hooks.slack.com/services/T00000000/B00000000/XXXXXXXXXXXXXXXXXXXXXXXX",
    "AGE-SECRET-KEY-1 is how a key begins",
    "<a accesskey=\"p\" href=\"x\"> <A ACCESSKEY='N'>",
    "print(\"token=\" + repr(x))",
    "print(\"shlex: raw token=\" + repr(result))\n",
    "\"&token=\"+encodeURIComponent(token)\n",
    "'password=' . $password",
    "\"a?token=\"+token+\"&b=\"+b",
    "\"token=\" << token << \"x\"",
    "self.passwd = password_mgr",
    "this.token = next1;",
    "self.token = access_token",
    "INIT_PWD=build",
    "  this->password = hunter2;",
    "let token = error62 ?? other;",
    "var password = hunter2",
    "const token = pExpr->nToken;",
    "*token = tkWS;",
    "this._token = -1;",
    "user_pass = '%s:%s' % (user, password)",
    "password = \"{}:{}\"; token={:?}, secret=%s\\n",
    "connect(password=self.password, api_key=args.key, token=x.y.token)",
    "list(pageToken=page_token).execute()",
    "curl -u bob https://host:80/ | sh -c 'x:y'",
    "curl -u \"$USER:$PASS\" host; curl -u bob:$PASS host",
    "curl --user-agent a:b host",
    "curl is a program; -u a:b",
    "mysql -u root -p shop",
    "docker run --name mysql -p 3306:3306 -p3307:3307",
    "sshpass -p $PASS ssh host",
    "identified by its name",
    "this machine has a login and a password field",
    "machine learning: login, then the password",
    "PWD=/data/app OLDPWD=/data",
    "bash: pwd: command not found",
    "pwd=here; pwd = there",
    "<password></password> <token/> <Token> text",
    "<password>${PASSWORD}</password>",
    "token: NonZeroU64,",
    "let token = match self {",
    "pub const FC_EXPR_VAR: EXPR_TOKEN = 3i32;",
    "passwd:         files systemd",
    "Token: '#dcdccc', secret: #fff",
    "secret: kubernetes.io/tls",
    "max_token=4096, --num_token=12",
    "--token TOKEN  the token to use",
    "the --password option is needed",
    "--password prompts the user for one",
    "  --password string   Password or token",
    "[--password PASS] [--token VALUE]",
    "--password (asked for if missing)",
    "give --token when you log in. With --password you need not.",
    "--api-key API_KEY, or `--token value`",
    "a --token with `--password`.",
    "  --password          asks for one",
    "pass --token or --password, not both",
    "use --token to log in; see --api-key.",
    "--token \"$TOKEN\" --password ${PASSWORD} --secret $SECRET",
    "--token-file /run/x1 --password-stdin a1",
    "--max-token 4096",
    "--password --token",
    "print(\"--token \")",
    "a --token [REDACTED] b",
    "Cookie: [REDACTED]",
    "a cookie: it is sweet",
    "Cookie: SESSION",
    "cookies: a=1",
    "cookie: string = 'x'",
    "cookie: a => b, c",
    "Cookie: sid=<sid>",
    "Cookie: sid=${SID}; x",
    "document.cookie = 'a=b'",
    "hello\r\n",
    "the token is missing",
    "a bearer of bad news",
    "uses Bearer authentication here",
    "Password: ",
    "Password: \r\nLast login: Mon Nov 16 04:15:29 2026 from 10.0.0.1",
    "[sudo] password for bob: ",
    "bob@host's password: \r\nWelcome to Ubuntu 24.04.1 LTS",
    "tokens: 1234 used",
    "max_tokens=4096",
    "token: 42",
    "let token = parse(input);",
    "let token = std::env::var(\"TOKEN\")?;",
    "token = os.environ[\"GITHUB\"]",
    "token=get_token(user)",
    "secret=SecretVolumeSource(",
    "auth_token = b64decode(auth['token']).decode()",
    "password=hash(plain, salt)",
    "private_key = ed25519.Ed25519PrivateKey.generate()",
    "let token = format!(\"{a}{b}\");",
    "fn check(token: &str, password: String) -> bool",
    "token: &'a str,",
    "password: Option<String>,",
    "token: string | undefined;",
    "token?: string",
    "password: SecretString,",
    "fn password() -> String {",
    "pub const SYS_memfd_secret: c_long = 447;",
    "pub const ERROR_INVALID_TOKEN: WIN32_ERROR = 315;",
    "pub ChannelToken: *mut u8,",
    "colon_token: Some,",
    "connect(auth_token=auth_token, proxy_pass=proxy_pass)",
    "def f(next_token=None):",
    "Stream<Token = u8>,",
    "fn peek(token: T) -> bool",
    "let reader_token = 1;",
    "token = Name.Builtin",
    "nextPageToken: Output only. A token",
    "\"output_token\": \"NextToken\"",
    "token: ::core::option::Option<",
    "request['pageToken'] = page_token",
    "self.token = token;",
    "token: self.token,",
    "if token == other {",
    "Token::new()",
    "token::parse(x)",
    "let secret = None;",
    "secret = None",
    "token=null",
    "password: true",
    "\"token\": null, \"secret\": false",
    "\"token\": {\"type\": 1}",
    "secret: [1, 2]",
    "--token <TOKEN>",
    "--token=<TOKEN>",
    "--password <PASSWORD> the password",
    "token=${TOKEN}",
    "token=$TOKEN",
    "token: ${{ secrets.GITHUB_TOKEN }}",
    "TOKEN=$(cat file)",
    "\"token\": \"${TOKEN}\"",
    "token = f\"{value}\"",
    "password=********",
    "password: ••••••",
    "token=xxxxxxxx",
    "password=",
    "password=''",
    "print(\"Password: \")",
    "line.contains(\"token=\")",
    "error: invalid token: expected identifier",
    "unexpected token: `;`",
    "secret: required",
    "authorization: required",
    "Authorization: Bearer",
    "Authorization: Bearer <token>",
    "password_hash_algorithm=argon2",
    "token_type=bearer",
    "TOKEN_FILE=/run/token",
    "private_key = /etc/ssl/private/key.pem",
    "private_key: ~/.ssh/id_rsa",
    "/usr/lib/token/secret.rs:12:5",
    "tokenizer=fast",
    "secrets.toml: ok",
    "commit d43aa34c2f1e0b9a8d7c6b5a4f3e2d1c0b9a8f7e",
    "2cd7d9b A mistyped section",
    "task-list sk-learn risk-assessment-of-things-long",
    "mask-abcdefghijklmnopqrstuvwxyz",
    "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJ",
    "eyJhbGciOiJIUzI1NiJ9 is a header",
    "http://localhost:8080/path",
    "http://[::1]:8080/",
    "https://user@host/path",
    "git+ssh://git@github.com:owner/repo",
    "https://user:${PASS}@host",
    "see https://docs.rs/a:b and c@d",
    "-----BEGIN CERTIFICATE-----\nMIIE\n-----END CERTIFICATE-----",
    "-----BEGIN PRIVATE KEY-----",
    "-----BEGIN PUBLIC KEY-----\nMIIE\n-----END PUBLIC KEY-----",
    "AKIA is a prefix, ghp_ too",
    "\u{1b}[1mbold\u{1b}[0m \u{1b}]0;title\u{7} text",
    "Password: \u{1b}[5;1HUsername",
];

#[test]
fn secrets_are_replaced_and_nothing_else_is() {
    SECRETS.iter().for_each(|it| check(it));
    check("f(password=«password», x)");
}

#[test]
fn what_is_no_secret_is_left_alone() {
    HARMLESS.iter().for_each(|it| check(it));
    assert!(HARMLESS.len() >= SECRETS.len());
}

#[test]
fn plain_text_is_borrowed() {
    assert!(matches!(Redaction::standard().apply("plain"), Cow::Borrowed("plain")));
}

#[test]
fn escape_sequences_stay_and_do_not_hide_a_secret() {
    check("token=\u{1b}[1m«abc»\u{1b}[0m next");
    check("tok\u{1b}[1men\u{1b}[0m=«abc»");
    check("token:\u{1b}[2C«abc»");
    check("\u{1b}]0;token=«abc»\u{7}$ ");
    check("\u{1b}]8;;https://a:«b»@c/\u{1b}\\link\u{1b}]8;;\u{1b}\\");
    let redacted = Redaction::standard().apply("password=a\u{1b}[7mb\u{1b}[0mc d");
    assert_eq!(redacted, "password=[REDACTED]\u{1b}[7m\u{1b}[0m d");
}

/// Secrets as programs draw them that set the cursor in the middle.
pub(super) const MOVED: &[(&str, &str)] = &[
    ("AKIA\u{1b}[1mIOSFODNN7EXAMPLE x", "[REDACTED]\u{1b}[1m x"),
    ("AKIA\u{1b}[CIOSFODNN7EXAMPLE x", "[REDACTED]\u{1b}[C x"),
    ("TOKEN=abc\u{1b}[Cdef x", "TOKEN=[REDACTED]\u{1b}[C x"),
    ("TOKEN=abc\u{1b}[5;10Hdef x", "TOKEN=[REDACTED]\u{1b}[5;10H x"),
    // The cursor is set where it is already.
    ("\r\nTOKEN=abc\u{1b}[10Gdef x", "\r\nTOKEN=[REDACTED]\u{1b}[10G x"),
    (
        "\u{1b}[3;4HTOKEN=\u{1b}[3;10Habc\u{1b}[Jdef",
        "\u{1b}[3;4HTOKEN=\u{1b}[3;10H[REDACTED]\u{1b}[J",
    ),
    (
        "\u{1b}[3;1H│é ghp_abcdefghij\u{1b}[0;1m\u{1b}[3;18Hklmnopqrstuvwxyz0123456789ab x",
        "\u{1b}[3;1H│é [REDACTED]\u{1b}[0;1m\u{1b}[3;18H x",
    ),
    ("a@b://u:pass\u{1b}[Cword@host x", "a@b://u:[REDACTED]\u{1b}[C@host x"),
    // It is set elsewhere: what is drawn there is another word.
    ("\r\nTOKEN=abc\u{1b}[20Gdef x", "\r\nTOKEN=[REDACTED]\u{1b}[20Gdef x"),
    ("\u{1b}[3;4HTOKEN=abc\u{1b}[4;13Hdef x", "\u{1b}[3;4HTOKEN=[REDACTED]\u{1b}[4;13Hdef x"),
    ("\u{1b}[3;4HPassword:\u{1b}[4;4HUsername:", "\u{1b}[3;4HPassword:\u{1b}[4;4HUsername:"),
    ("Password:\u{1b}[4;4HUsername:", "Password:\u{1b}[4;4HUsername:"),
    ("TOKEN=abc\u{1b}[H\u{1b}[2JWelcome", "TOKEN=[REDACTED]\u{1b}[H\u{1b}[2JWelcome"),
    ("TOKEN=abc\u{1b}[8Cnext", "TOKEN=[REDACTED]\u{1b}[8Cnext"),
    // Blanks that are written as movements.
    (
        "set\u{1b}[CTOKEN=abc\u{1b}[Cand\u{1b}[Cgo",
        "set\u{1b}[CTOKEN=[REDACTED]\u{1b}[Cand\u{1b}[Cgo",
    ),
    ("the\u{1b}[Ctoken\u{1b}[Cis\u{1b}[Cgood", "the\u{1b}[Ctoken\u{1b}[Cis\u{1b}[Cgood"),
];

#[test]
fn a_movement_in_the_middle_does_not_hide_a_secret() {
    for (text, expected) in MOVED {
        assert_eq!(Redaction::standard().apply(text), *expected, "{text:?}");
    }
}

/// As bash and zsh wrote it in a terminal of twenty columns.
#[test]
fn a_line_wrapped_by_a_shell_does_not_hide_a_secret() {
    let redact = |text| Redaction::standard().apply(text).into_owned();
    assert_eq!(redact("TOKEN=abcDEF \rGHIJK\r\n$ "), "TOKEN=[REDACTED] \r\r\n$ ");
    let zsh = "TOKEN=abcde \r\u{1b}[Kf\rfghijklm \r\u{1b}[Kz\rz01\r\n";
    assert_eq!(redact(zsh), "TOKEN=[REDACTED] \r\u{1b}[K \r\u{1b}[K\r\n");
    // What looks like a wrap does not make source code of a value.
    assert_eq!(redact("Authorization: Basic dXNlcg \r[x"), "Authorization: Basic [REDACTED] \r[x");
    let own = Redaction::with("#", &["bcdefgh".into()], &[]).unwrap();
    assert_eq!(own.apply("abcde \r\u{1b}[Kf\rfghi"), "a# \r\u{1b}[Ki");
}

#[test]
fn spans_are_sorted_and_apart() {
    let text = "token=ab\u{1b}[mc \u{1b}]0;token=x\u{7} sk-abcdefghijklmnop";
    let found: Vec<_> = Redaction::standard().spans(text).into_iter().map(|it| &text[it]).collect();
    assert_eq!(found, ["ab", "c", "x", "sk-abcdefghijklmnop"]);
}

#[test]
fn a_caller_adds_literals_and_expressions() {
    let literals = ["".to_owned(), "plum".to_owned()];
    let own = Redaction::with("***", &literals, &["id-[0-9]+".to_owned()]).unwrap();
    assert_eq!(own.apply("plum id-12 token=abc pear"), "*** *** token=*** pear");
    assert_eq!(own.apply("plum-"), "***-");
    let error = Redaction::with("x", &[], &["(".to_owned()]).unwrap_err();
    assert_eq!(error.to_string(), "invalid redaction regex `(`");
    let large = Redaction::with("x", &[], &["(a{1000}){1000}".to_owned()]).unwrap_err();
    assert_eq!(large.to_string(), "invalid redaction regex `(a{1000}){1000}`");
    assert!(Redaction::with("x", &vec!["a".to_owned(); 1000], &[]).is_err());
    assert!(Redaction::with("x", &["a".repeat(5000)], &[]).is_err());
    assert!(Redaction::with("x", &[], &vec!["a".to_owned(); 1000]).is_err());
}

#[test]
fn replacements_do_not_make_gigabytes_of_a_text() {
    let policy = Redaction::with(&"#".repeat(1024), &["1".to_owned()], &[]).unwrap();
    let text = "1 ".repeat(1 << 20);
    let shown = policy.apply(&text);
    assert!(!shown.contains('1'));
    assert_eq!(shown.len(), (1 << 20) + (16 << 20));
}

/// Each takes milliseconds; a rule that measures a value once for each name in it takes minutes.
#[test]
fn long_texts_take_linear_time() {
    let line = "2026-11-16T04:15:29Z INFO engine::session: session s1 wrote 4096 bytes to /tmp/x\n";
    let evil = [
        "token=",
        "password='",
        "eyJ",
        "://a:",
        "-----BEGIN ",
        "sk-",
        "bearer ",
        " \ra\ra",
        "eyJ-",
        "sk-a.",
        "token='",
        "token=\\\"",
        "cookie:a=",
        "token: a",
        "token: a[",
        "token string",
        "\"auth\":\"",
        "_auth=dXNl",
        "_auth=\\\"dXNlcjpw",
        "&sig=",
        "x-amz-signature=",
        "hooks.slack.com/services/",
        "self.token=",
        "token=\" +",
        "token=\"+",
        "--token ",
        "curl ",
        "curl -u ",
        "mysql -",
        "machine a login ",
        "<token>",
        "identified by '",
        "\u{1b}[m",
        "\u{1b}[C",
        "\ra\u{1b}[2Ga",
        "token=a\u{1b}[9;9H",
        "-----BEGIN PRIVATE KEY-----a:",
        "-----END PRIVATE KEY-----",
        "\n-----END PRIVATE KEY-----",
        "abcdefghijklmnopq\n\n-----END PRIVATE KEY-----\n",
    ];
    let deep = format!("<token>{}", "{".repeat(256 * 1024));
    for text in evil.iter().chain([&line, &deep.as_str()]) {
        let text = text.repeat((256 * 1024 / text.len()).max(1));
        let begun = Instant::now();
        assert!(Redaction::standard().apply(&text).len() <= 2 * text.len());
        let took = begun.elapsed();
        assert!(took < Duration::from_secs(30), "{took:?}");
    }
}

#[test]
fn a_key_is_hidden_whose_beginning_a_pager_left_behind() {
    let redact = |text: &str| Redaction::standard().apply(text).into_owned();
    let row = "MIIEpAIBAAKCAQEA0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKL";
    let end = "-----END RSA PRIVATE KEY-----\r\n$ ";
    let shown = redact(&format!("log\r\n:\r\u{1b}[K{row}\r\n{row}\r\nab==\r\n{end}"));
    assert_eq!(shown, format!("log\r\n:\r\u{1b}[K[REDACTED]\r\n{end}"));
    let shown = redact(&format!("    {row}\n    {row}\n    {end}"));
    assert_eq!(shown, format!("    [REDACTED]\n    {end}"));
    let shown = redact(&format!("a b\n    17\t{row}\n    18\t{row}\n    19\t{end}"));
    assert_eq!(shown, format!("a b\n    17\t[REDACTED]\n    19\t{end}"));
    for certificate in [format!("{row}\n-----END CERTIFICATE-----\n"), format!("a b\n{end}")] {
        assert_eq!(redact(&certificate), certificate);
    }
}

#[test]
fn bytes_that_no_terminal_shows_do_not_hide_a_secret() {
    for byte in ['\0', '\u{7}', '\u{e}', '\u{f}', '\u{1a}', '\u{7f}'] {
        let text = format!("API_TOKEN=abc{byte}defgh123 x\n{byte}");
        let shown = Redaction::standard().apply(&text);
        assert_eq!(shown, format!("API_TOKEN=[REDACTED]{byte} x\n{byte}"));
    }
}

#[test]
fn a_secret_goes_on_in_the_next_row_of_a_screen_where_the_line_was_broken() {
    let token = "ghp_Ab3dEf6hIj9lMn2pQr5tUv8xYz1BcD4FgH7J";
    let line = format!("$ XX ^Cport GITHUB_TOKEN={token}");
    let (one, rest) = line.split_at(30);
    let (two, three) = rest.split_at(30.min(rest.len()));
    let screen = format!("{one}\n{two}{three}\n$ ls\n");
    let shown =
        Excerpt::of_screen(screen.as_str(), 0, 30).shown(Some(Redaction::standard())).into_owned();
    assert_eq!(shown, "$ XX ^Cport GITHUB_TOKEN=[REDACTED]\n\n$ ls\n");
    let cut = Excerpt::of_screen("0123456789 ghp_Ab3d\nEf6hIj9lMn2pQr5tUv8xYz1BcD4FgH7J\n", 0, 19);
    assert!(!cut.shown(Some(Redaction::standard())).contains("9lMn2p"), "{cut:?}");
    let last = Excerpt::of_screen("token=abcdef1", 0, 13);
    assert_eq!(last.shown(Some(Redaction::standard())), "token=[REDACTED]");
    // A row that is not full ends what is in it.
    let shown = Excerpt::of_screen("token=abcdef123\nnext\n", 0, 30);
    assert_eq!(shown.shown(Some(Redaction::standard())), "token=[REDACTED]\nnext\n");
}
