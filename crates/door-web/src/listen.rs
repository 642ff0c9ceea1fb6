//! Listening: who may connect, how many, and how long they may take.
//!
//! The loop is our own, because the bounds must hold before anybody is known: a header has its time
//! (which needs a timer that a ready-made server does not set), TLS has its time, and of those who have
//! not proved who they are only so many are kept, the newest.

use std::convert::Infallible;
use std::io;
use std::net::{self, IpAddr, Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::body::Body;
use axum::http::{Request, Response, StatusCode, header};
use greenroom_door::Shutdown;
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::{Service as _, service_fn};
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::{TcpSocket, TcpStream};
use tokio::sync::watch;
use tokio::task::{JoinHandle, JoinSet};
use tokio::time::timeout;
use tokio_rustls::TlsAcceptor;

use crate::arrivals::{Arrivals, Newcomers};
use crate::auth::Who;
use crate::guard::Names;
use crate::metrics::Counted;
use crate::strangers::Source;
use crate::{Auth, Door, Place, routes, tls};

/// How long the head of a request may take, and how long a connection may be idle between two.
pub(crate) const HEAD_TIME: Duration = Duration::from_secs(5);

/// How long the first byte and the handshake of TLS may take, each.
const TLS_TIME: Duration = Duration::from_secs(2);

/// The largest head of a request: all cookies of a browser fit.
const HEAD_BYTES: usize = 64 << 10;

/// How many connections there may be.
const MAX_CONNECTIONS: usize = 1024;

/// How many connections the system keeps for us: as many as it does at most. Those it has no room for try
/// again only after a second, and the owner may be among them.
const BACKLOG: u32 = 4096;

/// How long what was sent may be on its way before a connection counts as broken.
const ON_THE_WAY: Duration = Duration::from_secs(20);

/// How much the system keeps of what was sent. More would be stale by the time a slow browser has it,
/// and a ping behind it late.
const SEND_BUFFER: usize = 256 << 10;

/// How long to wait when the system is out of descriptors: long enough not to spin.
pub(crate) const PAUSE: Duration = Duration::from_millis(100);

/// The first byte of TLS.
const TLS_BYTE: u8 = 0x16;

/// Why nobody can be listened to.
#[derive(Debug, thiserror::Error)]
pub enum ListenError {
    /// The port is taken, or not ours to take.
    #[error("cannot listen on {address}: {error}")]
    Bind {
        /// Where.
        address: SocketAddr,
        /// What the system said.
        error: io::Error,
    },
    /// The certificate is of no use.
    #[error("TLS: {0}")]
    Tls(io::Error),
    /// Other machines may not come in without a proof of who they are.
    #[error("`expose` needs `auth`: other machines would have a shell here")]
    Open,
}

/// A listener, as its connections know it.
pub(crate) struct Site {
    pub(crate) door: Arc<Door>,
    /// Where and how; what is asked for is in `proof`.
    pub(crate) place: Place,
    proof: Proof,
    pub(crate) names: Names,
    /// Nobody listens any more.
    pub(crate) closed: Shutdown,
    pub(crate) newcomers: Newcomers,
}

impl Site {
    /// How somebody proves now who they are.
    pub(crate) fn proof(&self) -> Auth {
        self.proof.get()
    }

    /// Ends when somebody may not be here any more: as for the door, and if they proved nothing, when
    /// that is asked for.
    pub(crate) async fn over(&self, who: &Who) {
        let mut asked = self.proof.0.subscribe();
        let strict = async {
            if who.is_proved() || asked.wait_for(|auth| *auth != Auth::None).await.is_err() {
                std::future::pending::<()>().await;
            }
        };
        tokio::select! {
            () = self.door.over(who) => {}
            () = strict => {}
        }
    }
}

/// How somebody proves to a listener who they are, which can change while it listens.
#[derive(Debug, Clone)]
pub struct Proof(watch::Sender<Auth>);

impl Proof {
    /// What is asked for now.
    #[must_use]
    pub fn get(&self) -> Auth {
        self.0.borrow().clone()
    }

    /// Asks for something else from now on. Who came in without a proof goes, if one is wanted now.
    pub fn set(&self, auth: Auth) {
        self.0.send_replace(auth);
    }
}

/// A connection, as its requests know it.
#[derive(Clone)]
pub(crate) struct Wire {
    pub(crate) peer: IpAddr,
    pub(crate) local: IpAddr,
    number: u64,
    site: Arc<Site>,
}

impl Wire {
    /// Where it comes from.
    pub(crate) fn source(&self) -> Source {
        Source::of(self.peer)
    }

    /// Who is at the other end is no newcomer any more, for better or worse: nobody makes them go.
    pub(crate) fn known(&self) {
        self.site.newcomers.remove(self.number);
    }
}

/// What listens. When it is dropped, nobody listens any more and its connections end.
pub struct Listening {
    address: SocketAddr,
    site: Arc<Site>,
    task: Option<JoinHandle<()>>,
}

impl Listening {
    /// Listens from now on.
    ///
    /// # Errors
    /// The port is taken, or the certificate of no use.
    pub async fn start(door: Arc<Door>, place: Place) -> Result<Listening, ListenError> {
        if place.expose && place.auth == Auth::None {
            return Err(ListenError::Open);
        }
        let ip = if place.expose { Ipv4Addr::UNSPECIFIED } else { Ipv4Addr::LOCALHOST };
        let address = SocketAddr::from((ip, place.port));
        let acceptor = if place.tls { Some(acceptor(&door, &place).await?) } else { None };
        let listener = bind(address).map_err(|error| ListenError::Bind { address, error })?;
        let address =
            listener.local_addr().map_err(|error| ListenError::Bind { address, error })?;
        let site = Arc::new(Site {
            names: Names::new(&place.hosts, place.expose),
            proof: Proof(watch::Sender::new(place.auth.clone())),
            door,
            place,
            closed: Shutdown::default(),
            newcomers: Newcomers::default(),
        });
        let task = Some(tokio::spawn(accept(listener, acceptor, Arc::clone(&site))));
        Ok(Listening { address, site, task })
    }

    /// Where.
    #[must_use]
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// How.
    #[must_use]
    pub fn place(&self) -> &Place {
        &self.site.place
    }

    /// How somebody proves here who they are.
    #[must_use]
    pub fn proof(&self) -> Proof {
        self.site.proof.clone()
    }

    /// The address for a browser on this machine, without a path.
    #[must_use]
    pub fn url(&self) -> String {
        let scheme = if self.site.place.tls { "https" } else { "http" };
        format!("{scheme}://127.0.0.1:{}", self.address.port())
    }
}

impl Listening {
    /// Listens no more; the port is free when this is done.
    pub async fn stop(mut self) {
        self.site.closed.begin();
        if let Some(task) = self.task.take() {
            // If it failed, it listens no more either.
            let _stopped = task.await;
        }
    }
}

impl Drop for Listening {
    fn drop(&mut self) {
        self.site.closed.begin();
        if let Some(task) = &self.task {
            task.abort();
        }
    }
}

fn bind(address: SocketAddr) -> io::Result<net::TcpListener> {
    let socket = TcpSocket::new_v4()?;
    // Connections of the last daemon that are not quite over are not in the way.
    socket.set_reuseaddr(true)?;
    socket.bind(address)?;
    socket.listen(BACKLOG)?.into_std()
}

async fn acceptor(door: &Door, place: &Place) -> Result<TlsAcceptor, ListenError> {
    let names = tls::names(&place.hosts, place.expose);
    let (given, state) = (place.certificate.clone(), door.around.state.clone());
    let made =
        tokio::task::spawn_blocking(move || tls::acceptor(given.as_ref(), &state, &names)).await;
    made.map_err(io::Error::other).flatten().map_err(ListenError::Tls)
}

async fn accept(listener: net::TcpListener, acceptor: Option<TlsAcceptor>, site: Arc<Site>) {
    let router = routes::router(&site);
    let mut connections = JoinSet::new();
    let mut arrivals = Arrivals::new(listener, &site);
    loop {
        let arrived = tokio::select! {
            arrived = arrivals.next() => arrived,
            () = site.closed.begun() => break,
            () = site.door.around.shutdown.begun() => break,
        };
        let Ok((stream, peer)) = arrived else {
            tokio::time::sleep(PAUSE).await;
            continue;
        };
        // Nothing is left of those that are over but their number.
        while connections.try_join_next().is_some() {}
        if connections.len() >= MAX_CONNECTIONS {
            tracing::warn!(MAX_CONNECTIONS, "too many browsers; one was turned away");
            continue;
        }
        let Ok(local) = stream.local_addr() else { continue };
        let number = site.newcomers.number();
        let (peer, local) = (peer.ip(), local.ip());
        let wire = Wire { peer, local, number, site: Arc::clone(&site) };
        let task = connections.spawn(connection(stream, acceptor.clone(), router.clone(), wire));
        site.newcomers.add(number, Source::of(peer), task);
    }
    arrivals.close().await;
}

async fn connection(stream: TcpStream, acceptor: Option<TlsAcceptor>, router: Router, wire: Wire) {
    let site = Arc::clone(&wire.site);
    let _counted = Counted::new(&site.door.metrics.connections);
    // A keystroke's echo is small and must not wait for more; a peer that is gone must be noticed.
    // Where the system cannot do that, it is slower, and still right.
    stream.set_nodelay(true).unwrap_or_default();
    let millis = u32::try_from(ON_THE_WAY.as_millis()).unwrap_or(u32::MAX);
    rustix::net::sockopt::set_tcp_user_timeout(&stream, millis).unwrap_or_default();
    rustix::net::sockopt::set_socket_send_buffer_size(&stream, SEND_BUFFER).unwrap_or_default();
    match acceptor {
        None => serve(stream, router, &wire).await,
        Some(acceptor) => match first_byte(&stream).await {
            Some(TLS_BYTE) => {
                if let Ok(Ok(stream)) = timeout(TLS_TIME, acceptor.accept(stream)).await {
                    serve(stream, router, &wire).await;
                }
            }
            Some(_) => redirect(stream, &wire).await,
            None => {}
        },
    }
    wire.known();
}

async fn first_byte(stream: &TcpStream) -> Option<u8> {
    let mut byte = [0];
    match timeout(TLS_TIME, stream.peek(&mut byte)).await {
        Ok(Ok(1)) => Some(byte[0]),
        _ => None,
    }
}

fn http() -> http1::Builder {
    let mut http = http1::Builder::new();
    http.timer(TokioTimer::new()).header_read_timeout(HEAD_TIME).max_buf_size(HEAD_BYTES);
    // Who has said all they want to say may still listen.
    http.half_close(true);
    http
}

async fn serve(
    stream: impl AsyncRead + AsyncWrite + Unpin + Send + 'static,
    router: Router,
    wire: &Wire,
) {
    let service = service_fn(|mut request: Request<Incoming>| {
        request.extensions_mut().insert(wire.clone());
        TowerToHyperService::new(router.clone()).call(request)
    });
    let served = http().serve_connection(TokioIo::new(stream), service).with_upgrades();
    if let Err(error) = served.await {
        tracing::debug!(peer = %wire.peer, %error, "a browser's connection ended");
    }
}

/// Somebody speaks plain HTTP where TLS is wanted: they are sent there.
async fn redirect(stream: TcpStream, wire: &Wire) {
    let service = service_fn(|request: Request<Incoming>| {
        let answer = elsewhere(&request, wire);
        async move { Ok::<_, Infallible>(answer) }
    });
    let served = http().keep_alive(false).serve_connection(TokioIo::new(stream), service);
    // Whether they heard it is theirs to care about.
    timeout(2 * HEAD_TIME, served).await.map(drop).unwrap_or_default();
}

fn elsewhere(request: &Request<Incoming>, wire: &Wire) -> Response<Body> {
    let mut answer = Response::new(Body::empty());
    let host = wire.site.names.check(request.headers(), request.uri(), wire.local);
    let path = request.uri().path_and_query().map_or("/", |it| it.as_str());
    let place = host.ok().and_then(|host| format!("https://{host}{path}").parse().ok());
    *answer.status_mut() = match place {
        Some(place) => {
            answer.headers_mut().insert(header::LOCATION, place);
            StatusCode::MOVED_PERMANENTLY
        }
        None => StatusCode::FORBIDDEN,
    };
    answer
}
