import { exactIn, type Moment, moment, placeOf } from '../format.js'
import type { ApiCall } from './api-call.js'
import type { CommandLine } from './command-line.js'
import { type Html, type HtmlContent, html } from './html.js'
import { isolated } from './names.js'
import type { NavigationView } from './navigation.js'

/** The colour of a state: good, bad, in doubt (wait, or look at it), or none. */
export type Tone = 'good' | 'bad' | 'doubt' | 'none'

/** A link or a button that leads somewhere. */
export interface PageLink {
  label: string
  href: string
}

/** The one h1 of a page, what the page is about, and its actions; the first one is the main action. */
export function heading(of: {
  title: string
  lead?: string
  back?: PageLink
  actions?: readonly (PageLink & { primary?: boolean })[]
  chip?: { text: string; tone: Tone }
}): Html {
  const { title, lead, back, actions = [] } = of
  return html`${back && html`<p class="back-line"><a class="back" href="${back.href}">← ${back.label}</a></p>`}
<div class="page-head">
  <div><h1>${isolated(title)}${of.chip && html` ${chip(of.chip.text, of.chip.tone)}`}</h1>${lead && html`<p class="lead">${isolated(lead)}</p>`}</div>
  ${
    actions.length > 0 &&
    html`<p class="buttons">${actions.map(
      ({ label, href, primary }) =>
        html`<a class="button${primary === true && ' primary'}" href="${href}">${label}</a>`,
    )}</p>`
  }
</div>`
}

/** A state in a word or two. */
export const chip = (text: string, tone: Tone = 'none'): Html =>
  html`<span class="chip ${tone}">${text}</span>`

/** How long ago; when pointed at, the exact time in the reader's zone and in UTC. */
export function time(at: number | undefined | null | Moment, now = 0, zone = 'UTC'): Html {
  if (at === undefined || at === null) return html`<span class="quiet">–</span>`
  const { ago, exact, iso } = typeof at === 'number' ? moment(at, now, zone) : at
  const own =
    zone === 'UTC' || iso === '' ? '' : `${exactIn(Date.parse(iso), zone)} in ${placeOf(zone)}; `
  return html`<time datetime="${iso}" title="${own}${exact}">${ago}</time>`
}

/** A value that people take elsewhere. Without script they select it. */
export const copy = (value: string, label = 'Copy'): Html =>
  html`<span class="copy"><code>${value}</code><button type="button" data-copy hidden>${label}</button></span>`

/** Shown in place of an empty list: what would be here, and what to do. */
export const empty = (of: { title: string; text?: string; action?: PageLink }): Html =>
  html`<div class="card empty"><h2>${isolated(of.title)}</h2>${of.text && html`<p>${isolated(of.text)}</p>`}${
    of.action &&
    html`<p class="buttons"><a class="button primary" href="${of.action.href}">${of.action.label}</a></p>`
  }</div>`

/** How to do the same by the API and by a command. */
export interface SameBy {
  api?: readonly ApiCall[]
  cli?: readonly CommandLine[] | undefined
  text?: string
}
export const sameBy = (of: SameBy): Html =>
  html`<details class="same"><summary>Do the same by ${[of.api && 'API', of.cli && 'command'].filter(Boolean).join(' or ')}</summary>
${of.text && html`<p class="quiet">${of.text}</p>`}
${[of.api, of.cli].map((lines) => lines && html`<pre class="code" tabindex="0">${lines.map(({ text }) => text).join('\n')}</pre>`)}</details>`

/** For an action that one wrong click must not cause: it opens, says what will happen, and then shows the button. */
export const confirm = (of: {
  /** The words on the button that opens it. */
  label: string
  /** What will happen, with the name of the thing. */
  says: string
  action: string
  /** The words on the button that does it; the label by default. */
  button?: string
  /** More fields of the form. */
  fields?: HtmlContent
  /** Not destructive, so it is not red. */
  mild?: boolean
  /** Shown open, because something that was typed in it is wrong. */
  open?: boolean
}): Html =>
  html`<details class="confirm"${of.open === true && html` open`}><summary class="button${!of.mild && ' danger'}">${of.label}</summary>
<form method="post" action="${of.action}"><p>${isolated(of.says)}</p>${of.fields}<button class="${of.mild ? 'primary' : 'danger'}">${of.button ?? of.label}</button></form></details>`

/** Links between the views of one thing. */
export const tabs = (links: readonly (PageLink & { here?: boolean })[], label = 'Views'): Html =>
  html`<nav class="tabs" aria-label="${label}">${links.map(
    ({ label, href, here }) =>
      html`<a href="${href}"${here === true && html` aria-current="page"`}>${label}</a>`,
  )}</nav>`

/** Links to the neighbouring pages of a list that is read by keys. */
export const pager = (of: { newer?: string | undefined; older?: string | undefined }): Html =>
  html`${
    (of.newer !== undefined || of.older !== undefined) &&
    html`<nav class="pager" aria-label="Pages">${of.newer !== undefined && html`<a class="button" href="${of.newer}" rel="prev">Newer</a>`}${
      of.older !== undefined && html`<a class="button" href="${of.older}" rel="next">Older</a>`
    }</nav>`
  }`

/** Something that should be read before the rest. */
export const notice = (content: HtmlContent, tone: Tone = 'doubt'): Html =>
  html`<div class="notice ${tone}" role="status">${isolated(content)}</div>`

/** Names and values. */
export const facts = (rows: readonly { label: string; value: HtmlContent }[]): Html =>
  html`<dl class="facts">${rows.map(
    ({ label, value }) => html`<div><dt>${label}</dt> <dd>${isolated(value)}</dd></div>`,
  )}</dl>`

/** How much of a limit is used. */
export function bar(of: {
  label: string
  used: number
  limit: number
  text: string
  /** The bar shows progress, whose end is good; the end of a limit is bad. */
  isWork?: boolean
}): Html {
  // A limit of 0 is used up.
  const share = of.limit === 0 ? 1 : of.used / of.limit
  const tone = of.isWork ? 'good' : share >= 1 ? 'bad' : share >= 0.8 ? 'doubt' : 'good'
  return html`<div class="meter"><p><span>${of.label}</span> <span class="quiet">${of.text}</span></p><progress class="${tone}" max="${of.limit}" value="${Math.min(of.used, of.limit)}" aria-label="${of.label}">${of.text}</progress></div>`
}

/** A value as JSON, as programs get it. */
export const json = (value: unknown): Html =>
  html`<pre class="code" tabindex="0">${typeof value === 'string' ? value : JSON.stringify(value, undefined, 2)}</pre>`

/** Above a form that was refused. It takes the focus, so that a screen reader reads it. */
export const faults = (of: {
  message: string | undefined
  fields: readonly { id: string; message: string }[]
}): Html =>
  html`<div class="faults" role="alert" tabindex="-1" autofocus id="faults"><h2>Please look at this again</h2>${
    of.message && html`<p>${of.message}</p>`
  }${
    of.fields.length > 0 &&
    html`<ul>${of.fields.map(({ id, message }) => html`<li><a href="#${id}">${message}</a></li>`)}</ul>`
  }</div>`

/** The links of a place, in groups; the page that is shown is marked for screen readers too. */
export const navigation = (groups: readonly NavigationView[]): Html =>
  html`${groups.map(
    ({ label, links }) =>
      html`<p class="group">${label}</p><ul>${links.map(
        ({ label, href, here }) =>
          html`<li><a href="${href}"${here && html` aria-current="page"`}>${label}</a></li>`,
      )}</ul>`,
  )}`
