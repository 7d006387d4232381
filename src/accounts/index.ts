/**
 * Accounts and the keys by which their applications identify themselves. What must hold: a key is known only by its
 * hash, and shown once. A deleted key fails on the very next request, or within a second where a command has deleted
 * it. One place decides for every route what a key may do, and no key makes a mightier one.
 */
export {
  type Account,
  accountById,
  applianceAccountId,
  createAccount,
  findAccount,
  insertAccount,
  listAccounts,
  openApplianceAccount,
  pageOfAccounts,
  renameAccount,
  renameWithin,
} from './account.js'
export { accountOfArchive, archivePath, archivePathOf, openArchive } from './archive.js'
export { type CheckKey, makeAuthenticate, makeCheckKey, type Principal } from './authenticate.js'
export {
  type Brand,
  type BrandColours,
  brandOf,
  changeBrand,
  checkBrand,
  plainColours,
  senderOf,
  shownBrand,
} from './brand.js'
export { contrastOf, leastContrast, shownContrast } from './contrast.js'
export {
  type ApiKey,
  createKey,
  deleteKey,
  findKey,
  hasOtherFullKey,
  listKeys,
  newestKeys,
  updateKey,
} from './key.js'
export { deletedKey, limitsIn, shownKey } from './key-answer.js'
export {
  type AccountLanguage,
  accountLanguages,
  isLanguage,
  languageCodes,
  languageFor,
  languageOf,
  setLanguage,
} from './language.js'
export {
  type KeyLimits,
  type KeyScope,
  keyScopes,
  refuseOtherDomain,
} from './limits.js'
export {
  type AccountFace,
  accountFace,
  type Logo,
  logoById,
  logoOf,
  mailLookOf,
  maxLogoBytes,
  readLogo,
  removeLogo,
  setLogo,
} from './logo.js'
export {
  createOperatorKey,
  deleteOperatorKey,
  findOperatorKey,
  listOperatorKeys,
  makeAuthenticateOperator,
  type OperatorKey,
  type OperatorPrincipal,
} from './operator-key.js'
export {
  refuseBeyondScope,
  scopesWith,
} from './permission.js'
