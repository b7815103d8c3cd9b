// What this browser has of WebXR, and whether it is that of a headset.

const NAMES = /OculusBrowser|Quest|PicoBrowser|Pico Neo|Wolvic|Vive|XRBrowser/;
const APPLE_HANDHELD = /iPad|iPhone|iPod/; // an app for phones may bear such a name, too

export const IS_HEADSET = NAMES.test(navigator.userAgent) && !APPLE_HANDHELD.test(navigator.userAgent);

// Whether this browser has a mode of WebXR: immersive-ar or immersive-vr.
export async function supports(mode) {
  try {
    return (await navigator.xr?.isSessionSupported(mode)) ?? false;
  } catch {
    return false; // a policy forbids it
  }
}
