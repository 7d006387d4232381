import { isNameField, listContactFields } from '../../contact-fields/index.js'
import { fieldsInUse, isTagName } from '../../contacts/index.js'
import type { Read } from '../../store/index.js'
import { type Html, html } from '../shell/html.js'

/** A merge tag that a menu offers: its name, what it is, and what stands there for who has none. */
interface OfferedTag {
  name: string
  label: string
  /** Undefined where everybody has one. */
  fallback: string | undefined
}

const fixed: readonly OfferedTag[] = [
  { name: 'firstName', label: 'First name', fallback: 'there' },
  { name: 'lastName', label: 'Last name', fallback: '' },
  { name: 'email', label: 'Address', fallback: undefined },
]
const links: readonly OfferedTag[] = [
  { name: 'unsubscribe_url', label: 'Link to unsubscribe', fallback: undefined },
  { name: 'preferences_url', label: 'Link to the preferences', fallback: undefined },
]

/** Campaigns alone can be on the public page, which their reader's own page goes with. */
const viewLink: OfferedTag = {
  name: 'view_url',
  label: 'Link to this mail in a browser',
  fallback: undefined,
}

// The menu has room for them.
const mostOwn = 20

const tagOf = ({ name, fallback }: OfferedTag) =>
  fallback === undefined ? `{{ ${name} }}` : `{{ ${name} | default: "${fallback}" }}`

/** The merge tags that there are for this account's contacts, its own fields among them. */
async function tagsOf(
  read: Read,
  accountId: string,
  isCampaign: boolean,
): Promise<readonly OfferedTag[]> {
  const described = (await listContactFields(read, accountId)).filter(
    ({ name }) => !isNameField(name),
  )
  const taken = new Set([...fixed, ...links, viewLink, ...described].map(({ name }) => name))
  const own = (await fieldsInUse(read, accountId))
    .filter((name) => isTagName(name) && !taken.has(name))
    .slice(0, mostOwn)
  return [
    ...fixed,
    ...described.map(({ name, label }) => ({ name, label, fallback: '' })),
    ...own.map((name) => ({ name, label: 'A field of your own', fallback: '' })),
    ...links,
    ...(isCampaign ? [viewLink] : []),
  ]
}

/**
 * The same to be copied; with script a button puts one where somebody writes, with what was typed for who has none
 * (`browser/tags.ts`).
 */
export async function tagMenu(
  read: Read,
  accountId: string,
  { isCampaign = false } = {},
): Promise<Html> {
  const offered = await tagsOf(read, accountId, isCampaign)
  return html`<details class="card tags" data-tags><summary>What you know of each reader</summary>
<p class="hint">Put one into your words. Who has no value gets what stands in quotes.</p>
<div class="field" hidden><label for="tag-default">If there is none</label><input type="text" id="tag-default" maxlength="100" autocomplete="off" value="there"></div>
<ul class="plain">${offered.map(
    (one) =>
      html`<li><code>${tagOf(one)}</code> <span class="quiet">${one.label}</span> <button type="button" data-tag="${one.name}"${one.fallback !== undefined && html` data-default`} hidden>Insert</button></li>`,
  )}</ul>${
    isCampaign &&
    html`<p class="hint">{{ view_url }} is empty unless you tick “Show it on your public page of past campaigns” below.</p>`
  }</details>`
}
