/**
 * What receivers report of mail in our domains' names: aggregate reports about DMARC, and about TLS. What
 * must hold: a report counts once; only of domains that are verified here; who made it is shown, and by
 * what that is known; what strangers write is bounded in rows. See README.md.
 */
export { adviceFor, type SourceKind } from './advice.js'
export { type FiledAggregate, fileAggregate } from './file.js'
export { forgetDmarc } from './forget.js'
export { makeNameSources } from './names.js'
export { ownAddresses } from './own-addresses.js'
export {
  type DmarcSummary,
  keptDays,
  type NameSources,
  readDmarc,
  type SourceSummary,
} from './sources.js'
