/**
 * Accounts and the keys by which their applications identify themselves. What must hold: a key is
 * known only by its hash, shown once, and a deleted one fails on the very next request.
 */
export {
  type Account,
  applianceAccountId,
  createAccount,
  findAccount,
  listAccounts,
  openApplianceAccount,
} from './account.js'
export { makeAuthenticate, type Principal } from './authenticate.js'
export { type ApiKey, createKey, deleteKey, listKeys } from './key.js'
export {
  type AccountFace,
  accountFace,
  type Logo,
  logoById,
  logoOf,
  maxLogoBytes,
  readLogo,
  removeLogo,
  setLogo,
} from './logo.js'
