import type { ViewedCopy } from '../archive/routes.js'
import { type Config, usualTracking } from '../config/index.js'
import type { EmailPageDeps } from '../dashboard/index.js'
import type { Core } from './listener-parts.js'

/** Makes copies of mails for people to look at. The first copy loads all of outbound. */
export function makeSentCopyLater(
  { outbound }: Config,
  { store, clock, key, publicUrl, renderer }: Core,
): EmailPageDeps['sentCopy'] {
  const deps = { store, clock, key, publicUrl, config: outbound, renderer: () => renderer }
  let made: Promise<EmailPageDeps['sentCopy']> | undefined
  return async (copy) => {
    made ??= import('../outbound/index.js').then(({ makeSentCopies }) => makeSentCopies(deps))
    return await (await made)(copy)
  }
}

/** Makes copies of mails for their recipients, in browsers; the first one loads outbound as above. */
export function makeViewedCopyLater(
  config: Config,
  { store, clock, key, publicUrl, renderer }: Core,
): ViewedCopy {
  const tracking = usualTracking(config)
  const deps = { store, clock, key, publicUrl, tracking, renderer: () => renderer }
  let made: Promise<ViewedCopy> | undefined
  return async (copy) => {
    made ??= import('../outbound/index.js').then(({ makeViewedCopies }) => makeViewedCopies(deps))
    return await (await made)(copy)
  }
}
