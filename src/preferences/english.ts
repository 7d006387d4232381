import type { Strings } from './strings.js'

const unaffected = 'Emails about your own orders or account are not affected.'
const underWay = 'An email that is already on its way may still arrive.'

export const english: Strings = {
  language: 'en',
  footerReason: (account, topic) =>
    topic === undefined
      ? `You receive this email from ${account}.`
      : `You receive this email about ${topic} from ${account}.`,
  footerChoose: 'Choose what you get',
  footerLeave: 'Unsubscribe',
  someTopic: 'this topic',
  ask: {
    title: 'Unsubscribe?',
    lines: ({ account, address, topic }) => [
      topic === undefined
        ? `${account} will send no more marketing emails to ${address}.`
        : `${account} will send no more emails about ${topic} to ${address}.`,
      unaffected,
    ],
    button: 'Unsubscribe',
  },
  done: {
    title: 'You are unsubscribed',
    lines: ({ account, address, topic }) => [
      topic === undefined
        ? `${address} gets no more marketing emails from ${account}.`
        : `${address} gets no more emails about ${topic} from ${account}.`,
      underWay,
    ],
    button: 'Undo: subscribe again',
  },
  back: {
    title: 'You are subscribed again',
    lines: ({ account, address, topic }) => [
      topic === undefined
        ? `${address} gets marketing emails from ${account} again.`
        : `${address} gets emails about ${topic} from ${account} again.`,
    ],
    button: 'Unsubscribe',
  },
  reason: {
    legend: 'Would you tell why? You need not.',
    choices: {
      too_many: 'I get too many',
      not_wanted: 'I do not want them any more',
      never_asked: 'I never asked for them',
      other: 'Something else',
    },
    words: 'In your own words',
    button: 'Send',
    thanks: 'Thank you.',
  },
  toCentre: 'Choose by topic what you get',
  centre: {
    title: ({ account }) => `What you get from ${account}`,
    intro: {
      subscribed: ({ account, address }) =>
        `This page is about the marketing emails that ${account} sends to ${address}.`,
      left: ({ account, address }) =>
        `${account} sends no marketing emails to ${address}: you are unsubscribed from everything.`,
    },
    unaffected,
    unreachable: ({ account, address }) =>
      `Emails from ${account} cannot reach ${address} at present, and this page cannot change that. What you choose here is kept. If you miss their emails, please write to them.`,
    legend: 'Tick what you would like to get',
    save: 'Save my choice',
    parts: {
      line: 'There are more topics. Save your choice here before you go on.',
      earlier: 'Earlier topics',
      more: 'More topics',
    },
    fields: {
      title: ({ account }) => `What ${account} knows of you`,
      line: 'You may change it here, or leave it empty.',
      none: '– none –',
      save: 'Save what I changed',
      saved: 'What you changed is saved.',
      notSaved: 'Nothing is saved yet: please look at what is marked.',
      wrong: {
        text: 'Please write at most 300 characters on one line.',
        number: 'Please write a number, such as 12 or 3.5.',
        date: 'Please write a day, such as 2026-11-29.',
        choice: 'Please choose one of these.',
      },
    },
    leave: {
      title: 'Nothing at all?',
      line: ({ account }) => `No more marketing emails from ${account}, not even about new topics.`,
      button: 'Unsubscribe from everything',
    },
    comeBack: {
      title: 'Changed your mind?',
      line: ({ account }) => `Get the same marketing emails from ${account} as before.`,
      button: 'Subscribe again',
    },
    status: {
      saved: 'Your choice is saved.',
      savedNone:
        'Your choice is saved: none of these topics. Emails about something else may still come; below you can leave everything.',
      stillLeft: 'Nothing was ticked, so nothing has changed.',
      left: `You are unsubscribed from everything. ${underWay}`,
      back: 'You are subscribed again.',
    },
  },
  erased: {
    title: 'You were erased',
    lines: ({ account, address }) => [
      `${account} has erased what it knew of ${address}, and sends no more marketing emails to it.`,
      `Nothing has been changed or stored here. If you would like emails from ${account} again, please sign up by a form of theirs.`,
    ],
  },
  shown: {
    title: 'This link is only for show',
    lines: [
      'It stands in a copy of an email that is not the recipient’s own.',
      'In the email itself it leads to the page where they unsubscribe.',
    ],
  },
  unknown: {
    title: 'This link does not work',
    lines: [
      'Perhaps it was cut off: open it from the email again, or copy all of it.',
      'You can also answer the email and ask its sender to take you off.',
    ],
  },
}
