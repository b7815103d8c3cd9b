// How this phone can drive, and in words what it lacks for the better ways.

import { IS_HEADSET, supports } from '/devices/xr_support.js';

const APPLE = /iPad|iPhone|iPod/.test(navigator.userAgent) || (navigator.platform === 'MacIntel' && navigator.maxTouchPoints > 1);

export const HAS_TOUCH = navigator.maxTouchPoints > 0 && !IS_HEADSET;
export const IS_HANDHELD = HAS_TOUCH && matchMedia('(pointer: coarse)').matches;

export const NO_SENSORS = 'This device tells no motion, so its turns do not turn the gripper. If it is a phone, allow motion sensors for this page in the browser\'s site settings; or turn the gripper with the keys.';
export const SENSORS_REFUSED = 'You have not allowed the motion sensors, so turns of the phone do not turn the gripper. To allow them, load this page again and answer "Allow".';
export const AR_REFUSED = 'The browser was not allowed to use AR. Allow it for this page in the browser\'s site settings and try again, or drive by touch.';
export const AR_FAILED = 'AR did not start on this phone. Try again, or drive by touch.';

const INSECURE = 'This page came by http, and so the browser withholds AR and motion sensors. On the robot\'s computer, start with host:=0.0.0.0 and open the https link that it prints.';
const NO_AR = 'The phone cannot tell where it moves, because this browser has no WebXR. Chrome has it on Android phones with "Google Play Services for AR".';
const NO_AR_APPLE = 'The phone cannot tell where it moves: browsers of iPhones and iPads have no WebXR. The app "XR Browser" brings it; nobody has tried it with Cobalt yet.';

// The best way that this browser offers: 'ar', 'sensors' or 'touch'; and what is missing, in words.
export async function findRoute() {
  if (!IS_HANDHELD) return { route: 'touch', missing: '' }; // a screen that nobody holds in the hand
  if (!isSecureContext) return { route: 'touch', missing: INSECURE };
  if (await supports('immersive-ar')) return { route: 'ar', missing: '' };
  const missing = APPLE ? NO_AR_APPLE : NO_AR;
  return window.DeviceOrientationEvent ? { route: 'sensors', missing } : { route: 'touch', missing: `${missing} ${NO_SENSORS}` };
}
