import { readdirSync, readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import type { Browser, BrowserContext, Page } from 'playwright-core'
import type { Test } from 'tap'
import { actions, may } from '../../src/people/index.js'
import { addedRoutes } from '../dashboard/added-routes.js'
import { type LoggedIn, logIn } from '../support/log-in.js'
import { type Posthorn, startPosthorn } from '../support/posthorn.js'
import { picture, sideways } from './open.js'

/** Who looks: `outsider` owns another account, `empty` is the owner of an account that has nothing. */
export const personas = ['owner', 'member', 'viewer', 'operator', 'outsider', 'empty'] as const
export type Persona = (typeof personas)[number]

/** What the pages are of: an account with the longest data, and one with none. */
export interface World extends Posthorn {
  /** Where the pages of the full account begin, `/a/<id>`. */
  full: string
  empty: string
  people: Record<Persona, LoggedIn>
  /** Of things that one file made and its pages name. */
  ids: Record<string, string>
}

export interface VisitedPage {
  path: string
  /** Undefined: nobody is logged in. */
  as?: Persona
  /** Default 200. */
  status?: number
  /** Of the picture; default made from the path. */
  name?: string
  /** With script: opens what is closed at first. */
  open?: (page: Page) => Promise<void>
}

/** What a file of `pages/` exports, one for each place of the dashboard. */
export interface PlacePages {
  /** Puts the longest data into the full account. */
  fill?: (world: World) => Promise<void>
  pages: (world: World) => VisitedPage[]
}

const withProvider = {
  POSTHORN_DASHBOARD_OIDC_ISSUER: 'https://id.test',
  POSTHORN_DASHBOARD_OIDC_CLIENT_ID: 'posthorn',
}

/** An appliance with an account for the longest data, an empty one, and everybody who looks at them. */
export async function startWorld(t: Test): Promise<World> {
  const posthorn = await startPosthorn(t, { env: withProvider })
  const { accountId: emptyId } = await posthorn.addAccount('Empty')
  const { accountId: otherId } = await posthorn.addAccount('Of others')
  const accounts: Partial<Record<Persona, string>> = { empty: emptyId, outsider: otherId }
  const logged = personas.map(async (persona) => {
    const role = persona === 'empty' || persona === 'outsider' ? 'owner' : persona
    return [persona, await logIn(posthorn, accounts[persona] ?? posthorn.accountId, role)] as const
  })
  const people = Object.fromEntries(await Promise.all(logged)) as World['people']
  const [full, empty] = [`/a/${posthorn.accountId}`, `/a/${emptyId}`]
  return { ...posthorn, full, empty, people, ids: {} }
}

/** All files of `pages/`. */
export async function placePages(): Promise<PlacePages[]> {
  const folder = new URL('./pages/', import.meta.url)
  const names = readdirSync(folder).filter((name) => name.endsWith('.js'))
  return await Promise.all(
    names.sort().map(async (name) => {
      const { place }: { place: PlacePages } = await import(new URL(name, folder).href)
      return place
    }),
  )
}

const require = createRequire(import.meta.url)
const axeSource = readFileSync(require.resolve('axe-core/axe.min.js'), 'utf8')
const tags = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa']
// `EVERY_WIDTH=1`: axe looks at every width in both schemes.
const looksAtEveryWidth = process.env.EVERY_WIDTH === '1'
const widths = [320, 768, 1280] as const
const schemes = ['light', 'dark'] as const

export const mostHtmlBytes = 60_000

/** What is wrong with a page; nothing for a good one. */
export async function faultsOfPage(
  contexts: { scripted: BrowserContext; bare: BrowserContext },
  world: World,
  { path, as, status = 200, name, open }: VisitedPage,
): Promise<string[]> {
  const faults: string[] = []
  for (const [kind, context] of Object.entries(contexts)) {
    const page = await context.newPage()
    const tell = (fault: string) => faults.push(`${path} (${kind}): ${fault}`)
    watch(page, world.url, status, tell)
    const answer = await page.goto(world.url + path)
    if (answer?.status() !== status) tell(`status ${answer?.status()} in place of ${status}`)
    const bytes = (await answer?.body())?.length ?? 0
    if (bytes > mostHtmlBytes) tell(`${bytes} bytes of HTML`)
    if (kind === 'scripted') await open?.(page)
    else if (status === 200) for (const fault of await forbidden(page, as)) tell(fault)
    const title =
      name ??
      (path
        .replace(/[0-9a-f-]{30,}/g, 'id')
        .replace(/\W+/g, '-')
        .slice(1) ||
        'front')
    for (const width of widths) {
      await page.setViewportSize({ width, height: 800 })
      const wider = await sideways(page)
      if (wider > 0) tell(`scrolls sideways by ${wider} px at ${width} px: ${await tooWide(page)}`)
      for (const fault of await badlySet(page)) tell(`${width} px: ${fault}`)
      for (const scheme of kind === 'scripted' ? schemes : []) {
        await page.emulateMedia({ colorScheme: scheme })
        await picture(page, `${title}-${width}-${scheme}`)
        // What depends on the width shows on a phone, what depends on the scheme is colours: each look costs a second.
        const looked = scheme === 'light' ? 320 : 1280
        if (width !== looked && !looksAtEveryWidth) continue
        for (const one of await violations(page, scheme)) tell(`${scheme}, ${width} px: ${one}`)
      }
    }
    await page.close()
  }
  return faults
}

function watch(page: Page, url: string, status: number, tell: (fault: string) => void): void {
  page.on('pageerror', (error) => tell(`script: ${error.message}`))
  page.on('console', (message) => {
    // The page itself may be an error page.
    if (status >= 400 && message.text().includes(`status of ${status}`)) return
    if (['error', 'warning'].includes(message.type())) tell(`console: ${message.text()}`)
  })
  page.on('request', (request) => {
    const asked = request.url()
    if (!asked.startsWith(url) && !/^(data|blob|about):/.test(asked)) tell(`asks for ${asked}`)
  })
}

const routes = addedRoutes()

/** What a page offers, by a link, a form or a button, and the one who looks may not do: it would lead to a 403. */
async function forbidden(page: Page, as: Persona | undefined): Promise<string[]> {
  if (as === undefined) return []
  const role = as === 'empty' || as === 'outsider' ? 'owner' : as
  const offered = await page.evaluate<string[]>(`(() => {
    // A form without a button of its own is sent by none: it keeps what the others send.
    const sends = (one) => one.type === 'submit' && !one.hasAttribute('formaction')
    return [
    ...[...document.querySelectorAll('a[href]')].map((one) => 'GET ' + one.href),
    ...[...document.forms].filter((one) => [...one.elements].some(sends)).map((one) => one.method.toUpperCase() + ' ' + one.getAttribute('action')),
    ...[...document.querySelectorAll('[formaction]')].map((one) => 'POST ' + one.formAction),
    ]
  })()`)
  return [...new Set(offered)].flatMap((one) => {
    const [method = '', to = ''] = one.split(' ')
    const { pathname } = new URL(to, page.url())
    const route = routes
      .filter((route) => route.method === method && isOf(route.path, pathname))
      .toSorted((a, b) => a.path.split(':').length - b.path.split(':').length)[0]
    const action = actions.find((known) => known === route?.action)
    return action === undefined || may(role, action) ? [] : [`offers ${one}, which ${as} may not`]
  })
}

const isOf = (pattern: string, path: string) =>
  new RegExp(`^${pattern.replaceAll('.', '\\.').replace(/:\w+/g, '[^/]+')}$`).test(path)

interface AxeResult {
  violations: { id: string; help: string; nodes: { html: string; failureSummary?: string }[] }[]
}

async function violations(page: Page, scheme: 'light' | 'dark'): Promise<string[]> {
  await page.evaluate(`window.axe ?? (() => { ${axeSource} })()`)
  const only =
    scheme === 'dark' ? { type: 'rule', values: ['color-contrast'] } : { type: 'tag', values: tags }
  // A frame has the HTML of others, which is not ours to mend.
  const found = await page.evaluate<AxeResult>(
    `axe.run({ exclude: ['iframe'] }, ${JSON.stringify({ runOnly: only, resultTypes: ['violations'], iframes: false })})`,
  )
  return found.violations.map(
    ({ id, nodes }) =>
      `${id}: ${nodes
        .slice(0, 3)
        .map(
          ({ html, failureSummary = '' }) =>
            `${html.slice(0, 200)} – ${failureSummary.split('\n').slice(1, 3).join('; ')}`,
        )
        .join(' | ')}`,
  )
}

/** The elements that stand out of the window, for who has to mend it. */
const tooWide = (page: Page) =>
  page.evaluate<string>(`[...document.querySelectorAll('body *')]
    .filter((element) => element.getBoundingClientRect().right > document.documentElement.clientWidth + 1)
    .slice(-3).map((element) => element.outerHTML.slice(0, 120)).join(' | ')`)

/**
 * What a reader would call ugly: a word of a table that is broken though it is short, an empty row of a card, a tick that
 * does not stand beside its words, boxes that touch, a head that fills a phone, a preview that is cut off.
 */
const badlySet = (page: Page) =>
  page.evaluate<string[]>(`(() => {
    const faults = []
    const isSeen = (one) => one.checkVisibility() && one.getClientRects().length > 0
    const texts = document.createTreeWalker(document.querySelector('main') ?? document.body, NodeFilter.SHOW_TEXT)
    for (let node = texts.nextNode(); node; node = texts.nextNode()) {
      if (!node.parentElement.closest('td, th, .chip, button, .button') || !isSeen(node.parentElement)) continue
      if (node.parentElement.closest('pre, .hidden, .wrap')) continue
      // A piece of a word that is longer than any line, beside a place where it may break.
      if (node.previousSibling?.nodeName === 'WBR' || node.nextSibling?.nodeName === 'WBR') continue
      for (const { 0: word, index } of node.data.matchAll(/[\\p{L}\\p{N}@.]+/gu)) {
        if (word.length > 20) continue
        const range = document.createRange()
        range.setStart(node, index)
        range.setEnd(node, index + word.length)
        const tops = new Set([...range.getClientRects()].map(({ top }) => Math.round(top)))
        if (tops.size > 1) faults.push('breaks ' + JSON.stringify(word))
      }
    }
    for (const cell of document.querySelectorAll('.cards td:empty')) {
      if (isSeen(cell) && getComputedStyle(cell).display !== 'table-cell') faults.push('empty row of ' + cell.dataset.label)
    }
    for (const chip of document.querySelectorAll('.cards .chip')) {
      if (!isSeen(chip) || getComputedStyle(chip.closest('td, th')).display === 'table-cell') continue
      const over = chip.getBoundingClientRect().right - chip.closest('table').parentElement.getBoundingClientRect().right
      if (over > 0) faults.push('cuts off ' + JSON.stringify(chip.textContent))
    }
    for (const tick of document.querySelectorAll('.choice > input, .check > input')) {
      if (!isSeen(tick)) continue
      const box = tick.getBoundingClientRect()
      const words = document.createRange()
      words.selectNodeContents(tick.parentElement.querySelector('span, label'))
      const [line] = words.getClientRects()
      const off = line.top + line.height / 2 - box.top - box.height / 2
      if (Math.abs(off) > 3) faults.push('a tick is off its words by ' + off + ' px')
    }
    const cards = [...document.querySelectorAll('main .card, main .table-box, main .notice, main form.card, main section > .buttons, main .confirm, main .facts, [data-live] > :is(form, p)')].filter(isSeen)
    for (const [at, one] of cards.entries()) {
      const next = cards[at + 1]
      if (!next || one.contains(next)) continue
      const [above, below] = [one.getBoundingClientRect(), next.getBoundingClientRect()]
      const gap = below.top - above.bottom
      if (gap >= 0 && gap < 4 && below.left < above.right && above.left < below.right)
        faults.push('touch: ' + one.outerHTML.slice(0, 60) + ' and ' + next.outerHTML.slice(0, 60))
    }
    const isNarrow = innerWidth < 640
    const head = document.querySelector('main')?.getBoundingClientRect().top ?? 0
    if (isNarrow && document.documentElement.dataset.session !== undefined && head > 110) faults.push('the head has ' + head + ' px')
    for (const form of document.querySelectorAll('[role=search]')) {
      if (isNarrow && form.offsetHeight > 190) faults.push('the search has ' + form.offsetHeight + ' px')
    }
    for (const frame of document.querySelectorAll('.looks iframe')) {
      if (!isSeen(frame)) continue
      const [inner, outer] = [frame.getBoundingClientRect(), frame.parentElement.getBoundingClientRect()]
      if (inner.right > outer.right + 1) faults.push('a third of the mail is out of sight: ' + inner.right + ' of ' + outer.right)
      if (frame.offsetWidth < 600) faults.push('a desktop of ' + frame.offsetWidth + ' px')
    }
    for (const editor of document.querySelectorAll('.editor .cm-content')) {
      if (editor.offsetHeight < 120) faults.push('an editor of one line')
    }
    return faults.slice(0, 6)
  })()`)

/** A pair of contexts for each persona, so that every page starts with its cookies and none of others. */
export async function openContexts(browser: Browser, world: World, as: Persona | undefined) {
  const [name = '', value = ''] = as === undefined ? [] : world.people[as].cookie.split('=', 2)
  const open = async (javaScriptEnabled: boolean) => {
    const context = await browser.newContext({
      javaScriptEnabled,
      viewport: { width: 1280, height: 800 },
    })
    if (name !== '') await context.addCookies([{ name, value, url: world.url }])
    return context
  }
  return { scripted: await open(true), bare: await open(false) }
}
