/**
 * What receivers report of mail in our domains' names: aggregate reports about DMARC, and about TLS. What must hold: a
 * report counts once, and only for domains that are verified here; it is shown who made it, and how that is known; rows
 * bound what strangers write. See README.md.
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
