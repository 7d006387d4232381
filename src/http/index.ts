/**
 * HTTP for the API and for pages; the only folder that knows hyper-express and uWS. Owns the listener, the
 * pipeline (guard → request id → authenticate → rate limit → permit → body → repeats → shape → handler →
 * errors) and every defect of the library: see `README.md` for each and what a client sees. Must hold: each
 * request gets one response or a closed connection; no header has a line end; no request of doubtful length
 * is served; nothing waits without bound for a client. It knows no accounts: `app` hands it `authenticate`
 * and `permit`.
 */

export type {
  Api,
  ApiCallers,
  ApiHandler,
  ApiRequest,
  ApiRoute,
  NotedChange,
  Shape,
} from './api.js'
export { neighbourhoodOf, networkKey, plainAddress } from './client-address.js'
export { compiledView } from './compiled-view.js'
export { standalonePage } from './error-page.js'
export { type Form, type FormFile, formNamed, formWith } from './form.js'
export { jsonPage } from './json-page.js'
export {
  type Page,
  type PageHandler,
  PageHeaders,
  type PageRequest,
  type PageShape,
  type Pages,
} from './pages.js'
export { makeRateLimiter, type RateLimit, refuseExcess } from './rate-limit.js'
export { type AnsweredOnce, jsonFingerprint, type Remember, type Repeats } from './repeats.js'
export { ApiReply, LongReply, reply } from './reply.js'
export { type HttpServer, type HttpServerOptions, openHttpServer, probePort } from './server.js'
export type { Upload } from './upload.js'
