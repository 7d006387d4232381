import { readFileSync } from 'node:fs'
import ejs, { type TemplateFunction } from 'ejs'
import { packageFile } from '../../config/index.js'
import { api, call } from './api-call.js'
import { chart } from './chart.js'
import { command } from './command-line.js'
import { field, fieldSet, hiddenField } from './field.js'
import { Html, html, written } from './html.js'
import { sentence } from './names.js'
import {
  bar,
  chip,
  confirm,
  copy,
  empty,
  facts,
  faults,
  heading,
  json,
  navigation,
  notice,
  pager,
  sameBy,
  tabs,
  time,
} from './parts.js'
import { actionsColumn, table } from './table.js'

/** The parts of pages, which every view has as `ui`. They escape what they are given, and only they make HTML. */
const ui = {
  html,
  heading,
  table,
  actionsColumn,
  pager,
  chip,
  time,
  copy,
  empty,
  sameBy,
  api,
  call,
  command,
  confirm,
  tabs,
  notice,
  chart,
  facts,
  bar,
  json,
  field,
  fieldSet,
  hiddenField,
  faults,
  navigation,
  sentence,
}

/** The parts, with times in that zone. */
function uiIn(zone: string): typeof ui {
  if (zone === 'UTC') return ui
  return { ...ui, time: (at, now) => time(at, now, zone) }
}

// The compiled code lies in dist/, the views only in src/: both are found from the package's root.
const folder = packageFile('src/dashboard')
// Compiled once in a process: views do not change while it runs.
const templates = new Map<string, TemplateFunction>()

/**
 * `src/dashboard/<name>.ejs`, for example `keys/list`, which sees the view as `it` and the parts of pages as `ui`.
 * Times are shown in `zone`. Views write with `<%= %>` only, which escapes everything that `ui` and `html` did not
 * make.
 */
export function render(name: string, view: object, zone = 'UTC'): Html {
  const template = templates.get(name) ?? compile(name)
  templates.set(name, template)
  return new Html(template({ ...view, ui: uiIn(zone) }))
}

function compile(name: string): TemplateFunction {
  const filename = `${folder}/${name}.ejs`
  return ejs.compile(readFileSync(filename, 'utf8'), {
    filename,
    root: folder,
    // No `with`: a view writes `it.name`, and an undefined bare name fails instead of being empty.
    strict: true,
    _with: false,
    localsName: 'it',
    destructuredLocals: ['ui'],
    escape: written,
    cache: true,
  })
}
