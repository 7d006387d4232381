import type { Selectable } from 'kysely'
import type { Clock } from '../clock/index.js'
import type { BodyOf } from '../contract/index.js'
import { refuseWrong, type WrongField } from '../errors/index.js'
import { parseMailbox } from '../mime/index.js'
import { type BrandRow, type Read, type Store, storedJson } from '../store/index.js'
import { archivePathOf } from './archive.js'
import type { updateBrand } from './contract-brand.js'
import { contrastOf, leastContrast, shownContrast } from './contrast.js'
import { type AccountLanguage, accountLanguages, isLanguage } from './language.js'

/** Colours of the pages and mails that an account's recipients see, each as `#rrggbb`. */
export interface BrandColours {
  background: string
  text: string
  button: string
  buttonText: string
}

/** How an account looks to the people who get its mail. */
export interface Brand {
  colours: BrandColours
  /** For the footer of marketing mail, which many laws want there; may be empty, and may have lines. */
  postalAddress: string
  /** The languages in which recipients may be addressed. */
  languages: AccountLanguage[]
  /** The sender name of mail that gives no other; may be empty. */
  senderName: string
  /** An address of one of the account's domains; may be empty. */
  defaultFrom: string
  /** Whether search engines may list the archive. */
  archiveListed: boolean
  /** Where the archive is, below the address of the public listener; null before a campaign is in it. */
  archivePath: string | null
}

export const plainColours: BrandColours = {
  background: '#ffffff',
  text: '#1d2430',
  button: '#14532d',
  buttonText: '#ffffff',
}

const plain = (): Brand => ({
  colours: plainColours,
  postalAddress: '',
  languages: Object.keys(accountLanguages).filter(isLanguage),
  senderName: '',
  defaultFrom: '',
  archiveListed: false,
  archivePath: null,
})

/** The account's brand; what nobody has chosen has the default. */
export async function brandOf(read: Read, accountId: string): Promise<Brand> {
  const row = await read
    .selectFrom('brands')
    .selectAll()
    .where('account_id', '=', accountId)
    .executeTakeFirst()
  const archivePath = await archivePathOf(read, accountId)
  return Object.assign(row === undefined ? plain() : toBrand(row), { archivePath })
}

function toBrand(row: Selectable<BrandRow>): Brand {
  return {
    ...lookOf(row),
    postalAddress: row.postal_address,
    senderName: row.sender_name,
    defaultFrom: row.default_from,
    archiveListed: row.archive_listed === 1,
    archivePath: null,
  }
}

/** Colours and languages from the stored columns; null columns are those of an account without a brand. */
export function lookOf(row: {
  colours: string | null
  languages: string | null
}): Pick<Brand, 'colours' | 'languages'> {
  const { colours, languages } = row
  if (colours === null || languages === null) return plain()
  return {
    colours: { ...plainColours, ...(storedJson(colours) as Partial<BrandColours> | undefined) },
    languages: ((storedJson(languages) as string[] | undefined) ?? []).filter(isLanguage),
  }
}

/** Changes what is given. Throws a 422 for unreadable colours and for a bad address. */
export async function changeBrand(
  { store, clock }: { store: Store; clock: Clock },
  accountId: string,
  given: BodyOf<typeof updateBrand>,
): Promise<Brand> {
  return await store.write(async (tx) => {
    const before = await brandOf(tx, accountId)
    const brand: Brand = {
      colours: { ...before.colours, ...given.colours },
      postalAddress: given.postalAddress?.trim() ?? before.postalAddress,
      languages: given.languages ?? before.languages,
      senderName: given.senderName?.trim() ?? before.senderName,
      defaultFrom: given.defaultFrom?.trim() ?? before.defaultFrom,
      archiveListed: given.archiveListed ?? before.archiveListed,
      archivePath: before.archivePath,
    }
    checkBrand(brand)
    const row = {
      colours: JSON.stringify(brand.colours),
      postal_address: brand.postalAddress,
      languages: JSON.stringify(brand.languages),
      sender_name: brand.senderName,
      default_from: brand.defaultFrom,
      archive_listed: brand.archiveListed ? 1 : 0,
      updated_at: clock.now(),
    } as const
    await tx
      .insertInto('brands')
      .values({ account_id: accountId, ...row })
      .onConflict((conflict) => conflict.column('account_id').doUpdateSet(row))
      .execute()
    return brand
  })
}

/** Throws one 422 that names everything that is wrong. */
export function checkBrand({ colours, defaultFrom }: Pick<Brand, 'colours' | 'defaultFrom'>): void {
  const isSender = defaultFrom === '' || parseMailbox(defaultFrom) !== undefined
  const noSender = {
    field: 'defaultFrom',
    message: 'defaultFrom is not an email address',
    says: 'Write an address such as news@example.com',
  }
  refuseWrong([...unreadable(colours), ...(isSender ? [] : [noSender])])
}

/** WCAG 2.2 §1.4.3: words with too little contrast cannot be read by everybody. */
function unreadable({ background, text, button, buttonText }: BrandColours): WrongField[] {
  const pairs = [
    ['colours.text', text, background, 'The text on its background'],
    ['colours.buttonText', buttonText, button, 'The words on the button'],
  ] as const
  return pairs.flatMap(([field, front, ground, what]) => {
    const contrast = contrastOf(front, ground)
    // A value that is not a colour has no contrast; another message tells that.
    if (Number.isNaN(contrast) || contrast >= leastContrast) return []
    const message = `${what} has a contrast of ${shownContrast(contrast)}, and needs ${leastContrast}: choose a darker or a lighter colour`
    return [{ field, message }]
  })
}

/** The sender of mail that gives no other; undefined: nobody has set one. */
export function senderOf({
  senderName,
  defaultFrom,
}: Pick<Brand, 'senderName' | 'defaultFrom'>): string | undefined {
  if (defaultFrom === '') return undefined
  const name = senderName.replace(/["\\\p{Cc}]/gu, '')
  return name === '' || defaultFrom.includes('<') ? defaultFrom : `"${name}" <${defaultFrom}>`
}

/** As the API shows it. */
export const shownBrand = (brand: Brand) => ({ ...brand })
