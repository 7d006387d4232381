import { templateUses } from '../../automations/index.js'
import type { EmailDeps } from '../../emails/index.js'
import { ApiError } from '../../errors/index.js'
import { pageOf } from '../../store/index.js'
import {
  type Difference,
  differences,
  findTemplate,
  listVersions,
  type Template,
} from '../../templates/index.js'
import { plural } from '../format.js'
import { type PageAnswer, page } from '../shell/answer.js'
import { type HtmlContent, html } from '../shell/html.js'
import { listOf } from '../shell/listing.js'
import { time } from '../shell/parts.js'
import type { Visit } from '../shell/visit.js'

const perPage = 50

/** All versions of a template, the one in use first. */
export async function showVersions({ store }: EmailDeps, visit: Visit): Promise<PageAnswer> {
  const { account, base, params, query, now } = visit
  const { slug = '' } = params
  const current = await findTemplate(store.read, account.id, slug)
  const at = `${base}/templates/${current.slug}/versions`
  const { rows: shown, ...beside } = await listOf({ path: at, query }, async (after) => {
    const options = { after: versionIn(after ?? null), limit: perPage + 1 }
    const found = await listVersions(store.read, account.id, slug, options)
    return pageOf(found, perPage, ({ version }) => String(version))
  })
  const rows = shown.map(({ version, subject, savedAt }) => [
    html`<a href="${at}/${version}">Version ${version}</a>${version === current.version && html` <span class="chip good">in use</span>`}`,
    subject,
    time(savedAt, now),
  ])
  return page(
    'templates/versions',
    {
      accountId: account.id,
      slug: current.slug,
      rows,
      back: `${base}/templates/${current.slug}`,
      ...beside,
    },
    { title: `Versions of ${current.slug}` },
  )
}

// As many as a page has room for; in a text that is all new the rest tells nothing more.
const mostLines = 300
const mostChars = 30_000

/** One version, and what it changed compared with another (`?against=`), by default the one before. */
export async function showVersion({ store }: EmailDeps, visit: Visit): Promise<PageAnswer> {
  const { account, base, params, query, now } = visit
  const { slug = '' } = params
  const version = versionIn(params.version ?? '')
  if (version === undefined)
    throw new ApiError('not_found', 'The template has no version with this number')
  const find = (one?: number) => findTemplate(store.read, account.id, slug, one)
  const [current, shown] = [await find(), await find(version)]
  // The first version is compared with itself, which shows nothing.
  const against = versionIn(query.get('against')) ?? Math.max(1, version - 1)
  const other = await find(against)
  const at = `${base}/templates/${current.slug}`
  const isCurrent = current.version === version
  const uses = isCurrent ? [] : await templateUses(store.read, account.id, current.slug, version)
  const warnings = uses.flatMap(({ name, warnings }) =>
    warnings.map(({ key, error }) => `Automation "${name}", step "${key}": ${error}`),
  )
  return page(
    'templates/version',
    {
      accountId: account.id,
      slug: current.slug,
      version,
      isCurrent,
      current: current.version,
      warnings,
      saved: time(shown.savedAt, now),
      parts: partsOf(other, shown),
      against: other.version === version ? undefined : other.version,
      back: `${at}/versions`,
      self: `${at}/versions/${version}`,
      restore: visit.may('templates.write') && !isCurrent ? `${at}/restore` : undefined,
      source: { subject: shown.subject, html: cut(shown.html), text: cut(shown.textBody ?? '') },
    },
    { title: `${current.slug}, version ${version}` },
  )
}

/** A version's number; undefined for any other text. */
const versionIn = (text: string | null) =>
  text !== null && /^[1-9]\d{0,8}$/.test(text) ? Number(text) : undefined

/** The beginning of a long text, and how much more there is. */
const cut = (text: string) =>
  text.length > mostChars
    ? `${text.slice(0, mostChars)}\n… (${plural(text.length - mostChars, 'character')} more)`
    : text

/** What changed in each part; parts without a change are left out. */
function partsOf(before: Template, after: Template) {
  const parts = [
    { label: 'Subject', lines: differences(before.subject, after.subject) },
    { label: 'HTML', lines: differences(before.html, after.html) },
    { label: 'Text', lines: differences(before.textBody ?? '', after.textBody ?? '') },
  ]
  return parts
    .filter(({ lines }) => lines.length > 0)
    .map(({ label, lines }) => ({ label, diff: shownDiff(lines) }))
}

/** The differences for which a page has room. */
function shownDiff(lines: readonly Difference[]): HtmlContent {
  let chars = 0
  let room = 0
  for (const one of lines) {
    chars += one.kind === 'gap' ? 0 : Math.min(one.line.length, 500)
    if (room === mostLines || chars > mostChars) break
    room++
  }
  const rest = lines.length - room
  return html`${lines.slice(0, room).map(shownLine)}${rest > 0 && html`<span class="gap">${plural(rest, 'line')} more</span>`}`
}

/** One line of the difference; a very long one, as in minified HTML, is cut. */
function shownLine(one: Difference): HtmlContent {
  if (one.kind === 'gap')
    return html`<span class="gap">${plural(one.lines, 'line')} as before</span>`
  const line = one.line.length > 500 ? `${one.line.slice(0, 500)}…` : one.line
  // The words are for people with screen readers, who see no colour.
  if (one.kind === 'added') return html`<ins><span class="hidden">added: </span>${line}\n</ins>`
  if (one.kind === 'removed') return html`<del><span class="hidden">removed: </span>${line}\n</del>`
  return html`<span>${line}\n</span>`
}
