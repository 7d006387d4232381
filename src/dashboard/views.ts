import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import ejs, { type TemplateFunction } from 'ejs'
import { packageFile } from '../config/index.js'
import type { HomeView } from './home.js'
import type { InboxView } from './inbox-view.js'
import type { MessageView } from './message-view.js'

/** What each page is made of; `views/<name>.ejs` sees it as `it`. */
export interface Views {
  home: HomeView
  inbox: InboxView
  message: MessageView
}

// The compiled code lies in dist/, the views only in src/: both are found from the package's root.
const folder = packageFile('src/dashboard')
const templates = new Map<keyof Views, TemplateFunction>()

/** A whole page. Views write data with `<%= %>` only, which escapes it. */
export function render<K extends keyof Views>(name: K, view: Views[K]): string {
  const template = templates.get(name) ?? compile(name)
  templates.set(name, template)
  return template(view)
}

/** A file of `static/`. */
export function staticFile(name: string): Buffer {
  return readFileSync(join(folder, 'static', name))
}

function compile(name: keyof Views): TemplateFunction {
  const filename = join(folder, 'views', `${name}.ejs`)
  return ejs.compile(readFileSync(filename, 'utf8'), {
    filename,
    strict: true,
    _with: false,
    localsName: 'it',
    cache: true,
  })
}
