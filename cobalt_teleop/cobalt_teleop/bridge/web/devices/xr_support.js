// Whether this browser has a mode of WebXR: immersive-ar or immersive-vr.
export async function supports(mode) {
  try {
    return (await navigator.xr?.isSessionSupported(mode)) ?? false;
  } catch {
    return false; // a policy forbids it
  }
}
