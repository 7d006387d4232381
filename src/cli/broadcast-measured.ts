import { shownCount } from '../amounts/index.js'
import { usualTracking } from '../config/index.js'
import { type CommandPlace, settingsOf } from './place.js'

/**
 * What is tracked where neither account nor domain decides, for commands that tell what people did, or would do, with
 * mail.
 */
export const measuring = (place: CommandPlace) => ({ tracking: usualTracking(settingsOf(place)) })

/** How many people did something and their share (%), or why nobody knows. */
export const measuredShare = (why: string | null, count: number, percent: number): string =>
  why === null ? `${shownCount(count)} (${percent} %)` : '-'
