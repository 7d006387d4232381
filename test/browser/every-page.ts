import { readdirSync, readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import type { Browser, BrowserContext, Page } from 'playwright-core'
import type { LoggedIn } from '../support/log-in.js'
import type { Posthorn } from '../support/posthorn.js'
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
  { path, status = 200, name, open }: VisitedPage,
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
