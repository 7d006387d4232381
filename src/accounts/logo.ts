import { randomBytes } from 'node:crypto'
import { OperatorError } from '../errors/index.js'
import type { Read, Tx } from '../store/index.js'
import { applianceAccountId } from './account.js'
import { type BrandColours, lookOf, plainColours } from './brand.js'
import { type AccountLanguage, languageOf } from './language.js'

/** A picture as browsers of recipients get it. */
export interface Logo {
  contentType: string
  bytes: Buffer
}

/** What recipients see of an account. */
export interface AccountFace {
  name: string
  /** The id in the logo's URL; null without a logo. */
  logoId: string | null
  /** The account's language as stored (`languageOf` reads it). */
  language: string | null
  colours: BrandColours
  /** The languages in which recipients may be addressed. */
  languages: AccountLanguage[]
}

/**
 * A logo lies in the database and is sent with every page: 64 KiB are plenty for 64 pixels of
 * height.
 */
export const maxLogoBytes = 64 * 1024

/** Finds the kind of picture by its first bytes; throws OperatorError for any other kind. */
export function readLogo(bytes: Buffer): Logo {
  if (bytes.length > maxLogoBytes) {
    throw new OperatorError(
      `A logo may have at most ${maxLogoBytes} bytes, and this file has ${bytes.length}`,
    )
  }
  const contentType = pictureType(bytes)
  // SVG is left out because it can hold scripts.
  if (contentType === undefined)
    throw new OperatorError('A logo must be a PNG, JPEG or WebP picture')
  return { contentType, bytes }
}

/** Replaces the logo; the new one gets a new address, so that no browser shows the old one. */
export async function setLogo(tx: Tx, accountId: string, logo: Logo): Promise<void> {
  await removeLogo(tx, accountId)
  await tx
    .insertInto('account_logos')
    .values({
      account_id: accountId,
      public_id: randomBytes(16).toString('base64url'),
      content_type: logo.contentType,
      bytes: logo.bytes,
    })
    .execute()
}

/** Resolves with whether there was one. */
export async function removeLogo(tx: Tx, accountId: string): Promise<boolean> {
  const { numDeletedRows } = await tx
    .deleteFrom('account_logos')
    .where('account_id', '=', accountId)
    .executeTakeFirstOrThrow()
  return numDeletedRows === 1n
}

/** The account's logo; undefined: it has none. */
export async function logoOf(read: Read, accountId: string): Promise<Logo | undefined> {
  return toLogo(await logos(read).where('account_id', '=', accountId).executeTakeFirst())
}

/** The logo that has this id, which a page of the account names. */
export async function logoById(read: Read, publicId: string): Promise<Logo | undefined> {
  return toLogo(await logos(read).where('public_id', '=', publicId).executeTakeFirst())
}

/** Undefined when there is no such account any more. */
export async function accountFace(read: Read, accountId: string): Promise<AccountFace | undefined> {
  const row = await read
    .selectFrom('accounts')
    .leftJoin('account_logos', 'account_logos.account_id', 'accounts.id')
    .leftJoin('brands', 'brands.account_id', 'accounts.id')
    .select(['name', 'public_id', 'language', 'colours', 'languages'])
    .where('accounts.id', '=', accountId)
    .where('accounts.id', '<>', applianceAccountId)
    .executeTakeFirst()
  return (
    row && {
      name: row.name,
      logoId: row.public_id,
      language: row.language,
      ...lookOf(row),
    }
  )
}

/** The account's colours and language, for mails made of blocks that choose none themselves. */
export async function mailLookOf(read: Read, accountId: string) {
  const face = await accountFace(read, accountId)
  return { brand: face?.colours ?? plainColours, language: languageOf(face?.language ?? null) }
}

const logos = (read: Read) => read.selectFrom('account_logos').select(['content_type', 'bytes'])

/** Undefined for no row. */
const toLogo = (row: { content_type: string; bytes: Buffer } | undefined) =>
  row && { contentType: row.content_type, bytes: row.bytes }

/** Found by the signature, as neither a file's name nor a client's word can be trusted. */
function pictureType(bytes: Buffer): string | undefined {
  const starts = (hex: string, at = 0) => bytes.toString('hex', at, at + hex.length / 2) === hex
  if (starts('89504e470d0a1a0a')) return 'image/png'
  if (starts('ffd8ff')) return 'image/jpeg'
  // RFC 9649 §2.4: 'RIFF', four bytes of size, 'WEBP'.
  return starts('52494646') && starts('57454250', 8) ? 'image/webp' : undefined
}
