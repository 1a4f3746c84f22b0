"""Serves a Roundup tracker: python roundup_site.py HOME PORT. Roundup's own server refuses to run as root."""

import sys
from socketserver import ThreadingMixIn
from wsgiref.simple_server import WSGIServer, make_server

from roundup.cgi.wsgi_handler import RequestDispatcher


class Server(ThreadingMixIn, WSGIServer):
    daemon_threads = True


make_server("127.0.0.1", int(sys.argv[2]), RequestDispatcher(sys.argv[1]), Server).serve_forever()
