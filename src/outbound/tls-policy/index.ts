/*
 * Owns how well a session must be encrypted before it may carry a recipient domain's mail: the operator's word, DANE
 * (RFC 7672), MTA-STS (RFC 8461), or as well as the server can do (RFC 7435). What must hold: where a policy is in
 * force, nothing leaves in the clear or to a host that did not prove itself; a policy that cannot be known for sure
 * defers; a session opened for one domain carries another's mail only if it also meets that domain's policy;
 * `testing` never stops mail.
 */
export { meets, type TlsDemand, tlsInWords, tlsOptions, usualDemand } from './demand.js'
export type { TlsOverride } from './overrides.js'
export {
  makeTlsPolicies,
  type TlsPolicies,
  type TlsPoliciesOptions,
  type TlsPolicy,
} from './policies.js'
export {
  failureBy,
  faultOf,
  nothingPublished,
  type Published,
  type TlsFailure,
} from './published.js'
export { type FetchPolicy, makePolicyFetcher, type PolicyFetcherOptions } from './sts-fetch.js'
