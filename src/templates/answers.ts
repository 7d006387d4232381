import { isoTime } from '../clock/index.js'
import { pageOf, type Read, textCursorOf, textInCursor } from '../store/index.js'
import { listTemplates, listVersions, type Template } from './template.js'

/** A template, or a version of it, as the API and commands show it. */
export const shownTemplate = ({
  slug,
  version,
  subject,
  html,
  textBody,
  blocks,
  savedAt,
}: Template) => ({
  slug,
  version,
  subject,
  html,
  textBody,
  blocks,
  savedAt: isoTime(savedAt),
})

/** The answer after a template was deleted. */
export const deletedTemplate = (slug: string) => ({
  slug,
  deleted: true,
  message: 'Template and its versions deleted',
})

/** Which part of a list; without `limit` all of it. `cursor` comes from the page before. */
interface Asked {
  limit?: number
  cursor?: string | undefined
}

/** An account's templates by slug. */
export async function templatesAnswer(
  read: Read,
  accountId: string,
  { limit = everything, cursor }: Asked = {},
) {
  const scope = `templates ${accountId}`
  const after = cursor === undefined ? undefined : textInCursor(cursor, scope)
  const found = await listTemplates(read, accountId, { after, limit: limit + 1 })
  const { page, ...more } = pageOf(found, limit, ({ slug }) => textCursorOf(slug, scope))
  const templates = page.map(({ createdAt, savedAt, ...one }) => ({
    ...one,
    createdAt: isoTime(createdAt),
    savedAt: isoTime(savedAt),
  }))
  return { templates, ...more }
}

/** All versions of a template, the newest first. Throws a 404. */
export async function versionsAnswer(
  read: Read,
  accountId: string,
  slug: string,
  { limit = everything, cursor }: Asked = {},
) {
  const scope = `versions ${accountId} ${slug}`
  const after = cursor === undefined ? undefined : Number(textInCursor(cursor, scope))
  const found = await listVersions(read, accountId, slug, { after, limit: limit + 1 })
  const { page, ...more } = pageOf(found, limit, (last) => textCursorOf(`${last.version}`, scope))
  return { versions: page.map((one) => ({ ...one, savedAt: isoTime(one.savedAt) })), ...more }
}

// More than any account has.
const everything = 1_000_000_000
