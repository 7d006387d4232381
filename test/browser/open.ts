import { execFileSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { type Browser, chromium, type Page } from 'playwright-core'
import type { Test } from 'tap'
import { plainly } from '../support/plain-program.js'

const flags = [
  '--headless',
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
]
// Where to leave pictures for people, if anywhere.
export const pictures = process.env.SCREENSHOTS

export interface Opened {
  page: Page
  /** What the browser complained about. */
  errors: string[]
  /** Paths that were asked for, without the static files. */
  asked: string[]
}

/** The scripts of pages, which `npm run build` makes, where only tsc has run. */
export function buildScripts(): void {
  if (existsSync('dist/static/posthorn.js')) return
  const [program, ...before] = [...plainly, 'bin/bundle']
  execFileSync(program ?? '', before)
}

/** A Chromium for one test. */
export async function launch(t: Test): Promise<Browser> {
  const browser = await chromium.launch({ executablePath: '/usr/bin/chromium', args: flags })
  t.teardown(() => browser.close())
  return browser
}

/** An empty page of its own, without cookies of others. */
export async function open(
  t: Test,
  browser: Browser,
  width: number,
  colorScheme: 'light' | 'dark' = 'light',
): Promise<Opened> {
  const context = await browser.newContext({ viewport: { width, height: 800 }, colorScheme })
  t.teardown(() => context.close())
  const page = await context.newPage()
  const errors: string[] = []
  const asked: string[] = []
  page.on('pageerror', (error) => errors.push(error.message))
  page.on('console', (message) => {
    if (message.type() === 'error' || message.type() === 'warning') errors.push(message.text())
  })
  // Blocked requests are announced too; only those that got an answer went out.
  page.on('response', (response) => {
    const { pathname } = new URL(response.url())
    if (!pathname.startsWith('/static/')) asked.push(pathname)
  })
  return { page, errors, asked }
}

/** By how many pixels the page is wider than the window. */
export async function sideways(page: Page): Promise<number> {
  return await page.evaluate<number>(
    'document.documentElement.scrollWidth - document.documentElement.clientWidth',
  )
}

export async function picture(page: Page, name: string): Promise<void> {
  if (pictures) await page.screenshot({ path: `${pictures}/${name}.png`, fullPage: true })
}

/**
 * Without what was stopped in the frame of a mail: pictures from elsewhere and scripts, which the mail has and which
 * must not get further.
 */
export const ownErrors = (errors: readonly string[]): string[] =>
  errors.filter((error) => !/document's frame is sandboxed|directive: "img-src data:/.test(error))
