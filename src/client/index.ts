/**
 * The client library, served by the appliance as a package of its own: `posthorn-client`. Must hold:
 * it imports nothing, neither of the appliance nor of Node, so that one file runs on every runtime
 * with fetch and WebCrypto; a call has one key and the same bytes in all its attempts; what fails is
 * thrown; the API key is in no text, log or error. How to change it: README.md.
 */
export type { Answer, Listed, OperationName } from './call.js'
export type { Clock } from './clock.js'
export type { SendEmail, WaitOptions } from './emails.js'
export {
  AccountPausedError,
  AuthenticationError,
  ConflictError,
  ConnectionError,
  type ErrorCode,
  ImportInterrupted,
  type Issue,
  isPosthornError,
  NotFoundError,
  PermissionError,
  PosthornError,
  QuotaError,
  RateLimitError,
  ServerError,
  TimeoutError,
  ValidationError,
  WebhookVerificationError,
} from './errors.js'
export type { ImportSource } from './import.js'
export type { RateLimit } from './pace.js'
export { Posthorn, type PosthornOptions } from './posthorn.js'
export {
  type CallOptions,
  type Meta,
  metaOf,
  type RequestSeen,
  type ResponseSeen,
} from './request.js'
export type { SendManyOptions, Sent } from './send-many.js'
export * from './types.js'
export {
  type ReadOptions,
  readWebhook,
  type WebhookEvent,
  type WebhookEventName,
  type WebhookEventOf,
  webhookId,
} from './webhook.js'
export {
  type NodeRequest,
  type NodeResponse,
  nodeWebhook,
  type WebhookOptions,
  webhookHandler,
} from './webhook-handler.js'
