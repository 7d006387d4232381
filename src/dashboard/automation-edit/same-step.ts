import { isDeepStrictEqual } from 'node:util'
import { dateFieldOf, isPlace, type StepDefinition } from '../../automations/index.js'
import { durationMs, type Rule } from '../../rules/index.js'

/*
 * Recipes and programs may leave defaults out of a step, or write a rule of one condition bare; the form writes all
 * that it shows. Looking at a step must not change it, so a step with the same meaning stays as it was written.
 */

/** The step as the form says it; `before` itself where both mean the same. */
export const unlessSame = (before: StepDefinition, made: StepDefinition): StepDefinition =>
  isDeepStrictEqual(plain(before), plain(made)) ? before : made

/** A step with all defaults filled in, however it was written. */
function plain(step: StepDefinition): unknown {
  return { ...step, name: trimmed(step.name), config: plainConfig(step) }
}

function plainConfig(step: StepDefinition): unknown {
  switch (step.type) {
    case 'trigger': {
      const { filter, reentry = 'after_end', date, ...rest } = step.config
      return {
        ...rest,
        filter: plainFilter(filter),
        reentry: typeof reentry === 'object' ? { after: length(reentry.after) } : reentry,
        date: date && {
          days: 0,
          time: '09:00',
          zone: '',
          repeat: 'yearly',
          ...date,
          field: dateFieldOf(date),
        },
      }
    }
    case 'wait_for_event': {
      const { filter, timeout = 'P90D', since = 'run', ...rest } = step.config
      return { ...rest, since, timeout: length(timeout), filter: plainFilter(filter) }
    }
    case 'send_email': {
      const { type = 'marketing', subject, replyTo = '', variables, headers } = step.config
      return {
        ...step.config,
        type,
        from: step.config.from.trim(),
        subject: trimmed(subject) || undefined,
        replyTo: [replyTo].flat().join(',').split(',').map(trimmed),
        variables: variables ?? {},
        headers: headers ?? {},
        topicId: step.config.topicId || undefined,
      }
    }
    case 'delay': {
      const { duration, until } = step.config
      return {
        duration: duration && length(duration),
        until: until && { zone: '', ...until, days: [...(until.days ?? [])].sort() },
      }
    }
    case 'condition':
      return plainRule(step.config)
    case 'contact_update':
      return { ...step.config, metadata: step.config.metadata ?? {} }
    case 'exit':
      return { reason: trimmed(step.config.reason) || undefined }
    default:
      return step.config
  }
}

const trimmed = (text: string | undefined) => text?.trim()

/** The length, however it is written: two weeks are fourteen days. */
const length = (duration: string): number | string => durationMs(duration) ?? duration

/** All parts of a filter, with the list, segment or form that it names first, as the form has them. */
function plainFilter(filter: Rule | undefined): unknown[] {
  const rule = filter && plainRule(filter)
  const parts = rule === undefined ? [] : 'all' in rule ? rule.all : [rule]
  return [...parts.filter(isPlace), ...parts.filter((one) => !isPlace(one))]
}

/** “All” with one part asks the same as that part. */
function plainRule(rule: Rule): Rule {
  if ('all' in rule) {
    const all = rule.all.map(plainRule)
    const [only] = all
    return all.length === 1 && only !== undefined ? only : { all }
  }
  return 'any' in rule ? { any: rule.any.map(plainRule) } : rule
}
