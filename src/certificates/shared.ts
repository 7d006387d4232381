import { createHash } from 'node:crypto'
import { existsSync, readFileSync } from 'node:fs'
import type { ApplianceKey } from '../config/index.js'
import type { Read, Store } from '../store/index.js'
import { certificateFile, isToken, placePem, removeCertificate } from './files.js'
import { heldNames } from './held.js'

/*
 * What all nodes share: the sealed certificates, which each node also has as files, and the answers to challenges, as a
 * directory may ask any of the nodes.
 */

export interface SharedDeps {
  store: Pick<Store, 'read' | 'write'>
  key: Pick<ApplianceKey, 'seal' | 'unseal'>
  dataDir: string
}

/** The purpose for which a name's file is sealed. */
export const certificateFilePurpose = (name: string) => `certificate file ${name}`

const hashOf = (pem: string) => createHash('sha256').update(pem).digest('base64url')

/** The columns of a row beside its dates: the name's file, sealed. */
export const sealedFile = (key: SharedDeps['key'], name: string, pem: string) => ({
  sealed: key.seal(pem, certificateFilePurpose(name)),
  hash: hashOf(pem),
})

/**
 * Makes the files as the database has them. `known`: what was found the last time, so that only new rows are read.
 * `removes`: also removes files of names without a row, which another node has ended.
 */
export async function bringCertificates(
  { store: { read }, key, dataDir }: SharedDeps,
  known: Map<string, string>,
  { removes }: { removes: boolean },
): Promise<void> {
  const rows = await read.selectFrom('certificates').select(['name', 'hash']).execute()
  for (const { name, hash } of rows) {
    if (hash === null) continue
    const file = certificateFile(dataDir, name)
    const isThere = existsSync(file)
    if (isThere && known.get(name) === hash) continue
    if (!isThere || hashOf(readFileSync(file, 'utf8')) !== hash) {
      const row = await read
        .selectFrom('certificates')
        .select(['sealed', 'hash'])
        .where('name', '=', name)
        .executeTakeFirst()
      if (row?.sealed == null) continue
      placePem(dataDir, name, key.unseal(row.sealed, certificateFilePurpose(name)))
      known.set(name, row.hash ?? '')
      continue
    }
    known.set(name, hash)
  }
  if (!removes) return
  const names = new Set(rows.map(({ name }) => name))
  for (const name of heldNames(dataDir)) {
    if (names.has(name)) continue
    removeCertificate(dataDir, name)
    known.delete(name)
  }
}

/** Brings in certificates of an older release, which kept them only as files. */
export async function shareFiles({ store, key, dataDir }: SharedDeps): Promise<void> {
  const rows = await store.read
    .selectFrom('certificates')
    .select('name')
    .where('hash', 'is', null)
    .execute()
  for (const { name } of rows) {
    const file = certificateFile(dataDir, name)
    if (!existsSync(file)) continue
    const values = sealedFile(key, name, readFileSync(file, 'utf8'))
    await store.write((tx) =>
      tx
        .updateTable('certificates')
        .set(values)
        .where('name', '=', name)
        .where('hash', 'is', null)
        .execute(),
    )
  }
}

/** Answers a challenge from now on, on every node, until `removeAnswers`. */
export async function keepAnswer(
  { write }: Pick<Store, 'write'>,
  token: string,
  answer: string,
): Promise<void> {
  if (!isToken(token))
    throw new Error('The directory gave a token that RFC 8555 §8.3 does not allow')
  await write((tx) =>
    tx
      .insertInto('acme_challenges')
      .values({ token, answer })
      .onConflict((on) => on.column('token').doUpdateSet({ answer }))
      .execute(),
  )
}

/** The text with which `/.well-known/acme-challenge/TOKEN` answers; undefined is a 404. */
export async function answerTo(read: Read, token: string): Promise<string | undefined> {
  if (!isToken(token)) return undefined
  const row = await read
    .selectFrom('acme_challenges')
    .select('answer')
    .where('token', '=', token)
    .executeTakeFirst()
  return row?.answer
}

/** Removes the answers to all challenges. */
export const removeAnswers = async ({ write }: Pick<Store, 'write'>): Promise<void> => {
  await write((tx) => tx.deleteFrom('acme_challenges').execute())
}
