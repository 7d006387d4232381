import type { FormWords } from './words.js'

export const english: FormWords = {
  language: 'en',
  email: 'Email address',
  firstName: 'First name',
  lastName: 'Last name',
  topics: 'What would you like to get?',
  choose: 'Choose one',
  optional: 'optional',
  submit: 'Sign up',
  missing: 'Please fill this in.',
  noChoice: 'Choose one of:',
  noNumber: 'This is no number, such as 12.',
  noDate: 'This is no date, such as 2026-12-24.',
  noAddress: 'Please write an email address, such as ada@example.com.',
  tooLong: 'This is too long.',
  consent: 'I would like to get the newsletter. I can unsubscribe at any time.',
  agree: 'Please tick this to sign up.',
  working: 'One moment: your browser is checking the form…',
  noScript:
    'Without JavaScript this form can take few people an hour just now. Please allow it for this page if you can.',
  check: {
    title: 'Please press the button',
    line: 'It shows that a person sent this form.',
    again: 'That was quicker than people are. Please press it once more.',
    button: 'Yes, sign me up',
  },
  sent: {
    title: 'One more click: look into your mailbox',
    lines: [
      'If everything is in order, an email with a link arrives, mostly within a few minutes. Only with its link are you signed up.',
      'Nothing there? Please look into the spam folder. If there is nothing tomorrow either, please fill in the form once more.',
    ],
  },
  confirm: {
    title: () => 'One more click',
    line: (account) => `Press the button to get the emails of ${account}.`,
    button: 'Confirm',
  },
  confirmed: {
    title: 'You are signed up',
    line: (account) => `Thank you. You get the emails of ${account} from now on.`,
  },
  lapsed: {
    title: 'You get no emails at present',
    line: (account) =>
      `This address is confirmed, but nothing comes of it any more: you have unsubscribed from ${account} since, or what you signed up for is no longer there.`,
    again: 'Fill in the form once more',
  },
  later: {
    title: 'Please try again later',
    line: 'You could not be signed up just now. The link stays good; please press the button again later.',
  },
  gone: {
    title: 'This link does not work any more',
    lines: [
      'It was cut off, or it is older than seven days.',
      'Please fill in the form once more if you would like to get the emails.',
    ],
  },
  closed: {
    title: 'This form takes nobody just now',
    lines: [
      'Nothing that is filled in here is kept at present, and no email is sent.',
      'Please come back later and fill it in then. A link that you have already got by email stays good.',
    ],
  },
  noForm: {
    title: 'There is no such form here',
    lines: [
      'Its address is incomplete, or the form has been taken down.',
      'Please ask whoever gave you the address for the right one.',
    ],
  },
  mail: {
    subject: (account) => `Please confirm: emails from ${account}`,
    reminder: (account) => `Still to be confirmed: emails from ${account}`,
    line: (account) =>
      `Somebody, hopefully you, signed up this address for the emails of ${account}. Please confirm that it was you:`,
    button: 'Confirm',
    ignore: 'It was not you? Then do nothing: you get no emails.',
  },
}
