// Package windesktop drives the desktop of a Windows user.
package windesktop
