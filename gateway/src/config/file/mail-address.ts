/** Recognizes email addresses that a message can be sent to. */

/**
 * The common form of RFC 5321, section 4.1.2, without quoted names, address literals and non-ASCII characters: nothing
 * in it ends an address, a header or a command.
 */
const ADDRESS =
  /^[A-Za-z0-9!#$%&'*+/=?^_`{|}~-]+(?:\.[A-Za-z0-9!#$%&'*+/=?^_`{|}~-]+)*@[A-Za-z0-9](?:[A-Za-z0-9-]*[A-Za-z0-9])?(?:\.[A-Za-z0-9](?:[A-Za-z0-9-]*[A-Za-z0-9])?)*$/;
/** RFC 5321, sections 4.5.3.1.1 and 4.5.3.1.3, less the angle brackets. */
const [LOCAL_MAX, WHOLE_MAX] = [64, 254];

export function isMailAddress(text: string): boolean {
  return text.length <= WHOLE_MAX && text.indexOf('@') <= LOCAL_MAX && ADDRESS.test(text);
}
