import { generateKeyPairSync } from 'node:crypto'
import type { ApplianceKey, Config } from '../config/index.js'
import type { AcmeAccountRow, Read, Store } from '../store/index.js'
import type { Directory } from './directory.js'
import { AcmeProblem } from './problem.js'

/** Our account at a directory. Its key is made once, and lives in the database, so that backups have it. */
export interface AcmeAccount
  extends Pick<AcmeAccountRow, 'url' | 'email' | 'failures' | 'next_at'> {
  /** PEM. */
  key: string
}

interface Deps {
  store: Store
  key: ApplianceKey
  config: Pick<Config, 'tls'>
}

/** Our account at the configured directory; a key is made where there is none. */
export async function ownAccount({ store, key, config }: Deps): Promise<AcmeAccount> {
  const { directory } = config.tls
  const known = await accountRow(store.read, directory)
  if (known !== undefined)
    return { ...known, key: key.unseal(known.key, acmeAccountPurpose(directory)) }
  const made = newKey()
  const fresh = { url: null, email: '', failures: 0, next_at: 0 }
  const sealed = key.seal(made, acmeAccountPurpose(directory))
  await store.write((tx) =>
    tx
      .insertInto('acme_accounts')
      .values({ directory, ...fresh, key: sealed, error: null })
      .execute(),
  )
  return { ...fresh, key: made }
}

export const accountRow = (read: Read, directory: string) =>
  read.selectFrom('acme_accounts').selectAll().where('directory', '=', directory).executeTakeFirst()

/** Makes the account known to the directory, and tells it a new address of the operator. */
export async function register(
  { store, config }: Omit<Deps, 'key'>,
  { client }: Pick<Directory, 'client'>,
  account: AcmeAccount,
): Promise<void> {
  const { directory, email, agreeToTerms } = config.tls
  if (account.url !== null && account.email === email) return
  const contact = email === '' ? [] : [`mailto:${email}`]
  // RFC 8555 §7.3: for a known key the directory answers with the existing account.
  await client.createAccount({ termsOfServiceAgreed: agreeToTerms, contact })
  await setAccount(store, directory, { url: client.getAccountUrl(), email })
}

/** If the directory no longer knows the account, it is registered again with the same key. */
export async function forgetWhenUnknown(store: Store, directory: string, error: unknown) {
  if (!(error instanceof AcmeProblem) || error.type !== 'accountDoesNotExist') return
  await setAccount(store, directory, { url: null })
}

/** Changes what is stored of our account at a directory, except its key. */
export async function setAccount(
  store: Store,
  directory: string,
  values: Partial<Omit<AcmeAccountRow, 'directory' | 'key'>>,
): Promise<void> {
  await store.write((tx) =>
    tx.updateTable('acme_accounts').set(values).where('directory', '=', directory).execute(),
  )
}

/** ECDSA on P-256, which every directory and every client of TLS 1.2 knows; PEM of PKCS #8. */
export const newKey = (): string =>
  generateKeyPairSync('ec', { namedCurve: 'P-256' })
    .privateKey.export({ type: 'pkcs8', format: 'pem' })
    .toString()

export const acmeAccountPurpose = (directory: string) => `acme account ${directory}`
