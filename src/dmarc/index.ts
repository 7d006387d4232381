/**
 * What receivers report of mail in our domains' names: aggregate reports about DMARC, and about TLS. What
 * must hold: a report counts once; only of domains that are verified here; who made it is shown, and by
 * what that is known; what strangers write is bounded in rows. See README.md.
 */

export { dmarcAnswer } from './answer.js'
export { type FiledAggregate, fileAggregate } from './file.js'
export { makeNameSources, ownAddresses } from './names.js'
export { forgetDmarc } from './rows.js'
export {
  adviceFor,
  type DmarcSummary,
  keptDays,
  type NameSources,
  readDmarc,
  type SourceKind,
  type SourceSummary,
  usualDays,
} from './sources.js'
