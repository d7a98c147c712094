/**
 * Decides what a server must be started with, because Bun reads it only once: its environment and flags. Plain
 * JavaScript that runs on an old Node, for the launcher and for single binaries.
 */
'use strict';

const HEADER_BLOCK_FLAG = '--max-http-header-size';
const HEADER_BLOCK_BYTES_MAX = 16384;
/** The flag that limits the header block of a request. */
const HEADER_LIMIT = `${HEADER_BLOCK_FLAG}=${HEADER_BLOCK_BYTES_MAX}`;

/**
 * Threads for what waits in the system. Bun has as many as processors: two look-ups of names that hang for seconds, or a
 * log whose reader stopped, would leave none to make the journal durable (1.4.5). They start when they are needed.
 */
const WAITING_THREADS = '64';

/** The given environment plus what Bun reads only once, at its start. */
function serverEnvironment(environment) {
  const server = { ...environment, BUN_CONFIG_MAX_HTTP_REQUESTS: '65535' };
  if (!server.UV_THREADPOOL_SIZE) server.UV_THREADPOOL_SIZE = WAITING_THREADS;
  if (!server.NODE_ENV) server.NODE_ENV = 'production';
  if (Object.keys(server).some((name) => /^https?_proxy$/i.test(name))) {
    const direct = [server.NO_PROXY || server.no_proxy, 'localhost,127.0.0.1,::1,[::1]'].filter(Boolean).join(',');
    server.NO_PROXY = direct;
    server.no_proxy = direct;
  }
  return server;
}

/** The header limit as flags, unless the operator set another one in BUN_OPTIONS. */
function headerLimitFlags(environment) {
  return (environment.BUN_OPTIONS || '').includes(HEADER_BLOCK_FLAG) ? [] : [HEADER_LIMIT];
}

module.exports = { HEADER_LIMIT, headerLimitFlags, serverEnvironment };
