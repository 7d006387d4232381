import { readFileSync } from 'node:fs'
import ejs from 'ejs'
import { packageFile } from '../config/index.js'

/** A page of a heading, a few sentences and at most one button; `views/page.ejs` sees it as `it`. */
export interface PageView {
  language: string
  title: string
  lines: readonly string[]
  /** Posts `action` to the page's own address. */
  form?: { action: 'unsubscribe' | 'resubscribe'; button: string; quiet: boolean } | undefined
}

const filename = packageFile('src/preferences/views/page.ejs')
const page = ejs.compile(readFileSync(filename, 'utf8'), {
  filename,
  strict: true,
  _with: false,
  localsName: 'it',
})

/** A whole page; the view writes data with `<%= %>` only, which escapes it. */
export const renderPage = (view: PageView): string => page(view)

export const styleSheet = (): Buffer => readFileSync(packageFile('src/preferences/views/page.css'))
