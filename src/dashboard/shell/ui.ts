import { chart } from './chart.js'
import { field, fieldSet, hiddenField } from './field.js'
import { html } from './html.js'
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
import { table } from './table.js'

/** The parts of pages, which every view has as `ui`. They escape what they are given, and make HTML that views do not. */
export const ui = {
  ...{ html, heading, table, pager, chip, time, copy, empty, sameBy, confirm, tabs, notice },
  ...{ chart, facts, bar, json, field, fieldSet, hiddenField, faults, navigation },
}
